import QtQuick
import Colibri.Ui

// What the user wrote, as it was written.
Item {
    id: message

    required property string text

    implicitHeight: bubble.height

    Rectangle {
        id: bubble
        anchors.right: parent.right
        width: words.width + 2 * Theme.space.s3 + Theme.space.s1
        height: words.height + 2 * Theme.space.field
        radius: Theme.radius.card
        color: Theme.accentSoft
        border.width: Theme.softEdge
        border.color: Theme.border

        TextEdit {
            id: words

            readonly property real most: Math.min(Theme.size.messageMax, message.width) - 2 * Theme.space.s3 - Theme.space.s1

            x: Theme.space.s3 + Theme.space.hair
            y: Theme.space.field
            width: Math.min(most, Math.ceil(measure.implicitWidth) + 1)
            text: message.text
            textFormat: TextEdit.PlainText
            font: Theme.type.prose.font
            color: Theme.accentSoftInk
            wrapMode: TextEdit.Wrap
            readOnly: true
            selectByMouse: true
            selectionColor: Theme.accent
            selectedTextColor: Theme.accentInk
            Accessible.role: Accessible.Paragraph
            Accessible.name: qsTr("You wrote: %1").arg(message.text)
        }
        Text {
            id: measure
            visible: false
            text: message.text
            textFormat: Text.PlainText
            font: words.font
        }
    }
}
