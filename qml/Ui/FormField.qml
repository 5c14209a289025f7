import QtQuick
import QtQuick.Layouts

// A label above a control and, below it, a hint or the sentence of what is wrong.
ColumnLayout {
    id: form

    required property string label
    property string hint
    property string errorText
    default property alias control: slot.data

    spacing: Theme.space.s1

    Label {
        Layout.fillWidth: true
        text: form.label
        elide: Text.ElideRight
    }
    RowLayout {
        id: slot
        Layout.fillWidth: true
        Layout.topMargin: Theme.space.s1
        spacing: Theme.space.s2
    }
    Label {
        Layout.fillWidth: true
        visible: text.length > 0
        text: form.errorText.length > 0 ? form.errorText : form.hint
        role: Theme.type.caption
        color: form.errorText.length > 0 ? Theme.error : Theme.text2
        wrapMode: Text.Wrap
    }
}
