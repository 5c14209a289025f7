import QtQuick
import Colibri.Ui

// The reasoning before an answer: one line with its time, folded; open, the text behind a line.
Column {
    id: reasoning

    required property string thoughts
    required property real seconds
    required property real tokens
    required property bool running

    property bool open: false

    spacing: Theme.space.s2

    Button {
        id: line
        x: -leftPadding
        compact: true
        kind: Button.Quiet
        iconName: reasoning.open ? "chevronDown" : "chevronRight"
        text: reasoning.running
            ? qsTr("Reasoning · %1").arg(Format.counted(reasoning.tokens, qsTr("token"), qsTr("tokens")))
            : qsTr("Reasoned for %1 · %2").arg(Format.duration(reasoning.seconds))
                .arg(Format.counted(reasoning.tokens, qsTr("token"), qsTr("tokens")))
        toolTip: reasoning.open ? qsTr("Hide the reasoning") : qsTr("Show the reasoning")
        onClicked: reasoning.open = !reasoning.open
    }
    Loader {
        width: reasoning.width
        active: reasoning.open
        visible: active
        sourceComponent: Item {
            implicitHeight: words.implicitHeight

            Rectangle {
                x: Theme.space.inner
                width: Theme.space.hair
                height: parent.height
                color: Theme.border
            }
            TextEdit {
                id: words
                x: Theme.space.s5
                width: parent.width - x
                text: reasoning.thoughts
                textFormat: TextEdit.PlainText
                font: Theme.type.small.font
                color: Theme.text2
                wrapMode: TextEdit.Wrap
                readOnly: true
                selectByMouse: true
                selectionColor: Theme.accent
                selectedTextColor: Theme.accentInk
                Accessible.role: Accessible.Paragraph
                Accessible.name: text
            }
        }
    }
}
