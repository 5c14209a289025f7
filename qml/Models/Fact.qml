import QtQuick
import QtQuick.Layouts
import Colibri.Ui

// A label and its value, one line.
RowLayout {
    id: fact

    required property string label
    required property string value

    spacing: Theme.space.s3

    Label {
        Layout.preferredWidth: Theme.scaled(200)
        text: fact.label
        role: Theme.type.small
        color: Theme.text2
        elide: Text.ElideRight
    }
    Label {
        Layout.fillWidth: true
        text: fact.value
        role: Theme.type.small
        elide: Text.ElideMiddle
    }
}
