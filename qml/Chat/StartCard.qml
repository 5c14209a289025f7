import QtQuick
import QtQuick.Layouts
import Colibri.Ui

// One way to begin: what it is, what it needs, its button.
Card {
    id: card

    required property string title
    property string facts
    property string text
    property string actionName
    property string actionText
    property string actionIcon
    property bool primary: false

    signal action()

    Layout.fillWidth: true
    Layout.fillHeight: true
    Layout.preferredWidth: 1

    contentItem: ColumnLayout {
        spacing: Theme.space.s2

        Label {
            Layout.fillWidth: true
            text: card.title
            role: Theme.type.title
            elide: Text.ElideRight
        }
        Label {
            Layout.fillWidth: true
            text: card.facts
            color: Theme.text2
            wrapMode: Text.Wrap
        }
        Label {
            Layout.fillWidth: true
            text: card.text
            role: Theme.type.small
            color: Theme.text2
            wrapMode: Text.Wrap
        }
        Item {
            Layout.fillHeight: true
            implicitHeight: Theme.space.s2
        }
        Button {
            objectName: card.actionName
            large: true
            kind: card.primary ? Button.Primary : Button.Normal
            iconName: card.actionIcon
            text: card.actionText
            onClicked: card.action()
        }
    }
}
