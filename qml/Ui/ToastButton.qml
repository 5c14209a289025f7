import QtQuick
import QtQuick.Templates as T

// The one act of a toast: a word on the inverted ground.
T.AbstractButton {
    id: control

    implicitWidth: word.implicitWidth
    implicitHeight: word.implicitHeight
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus

    Accessible.role: Accessible.Button
    Accessible.name: text
    Accessible.onPressAction: clicked()

    Keys.onReturnPressed: clicked()
    Keys.onEnterPressed: clicked()

    contentItem: Text {
        id: word
        text: control.text
        textFormat: Text.PlainText
        font.family: Theme.type.strong.family
        font.pixelSize: Theme.type.strong.size
        font.weight: Theme.type.strong.weight
        font.underline: control.hovered
        color: Theme.window
    }
    // the word is lower than what a finger or a shaky hand can hit
    containmentMask: Item {
        x: -Theme.space.s2
        y: (control.height - height) / 2
        width: control.width + 2 * Theme.space.s2
        height: Math.max(Theme.size.hitArea, control.height)
    }

    Rectangle {
        anchors.fill: parent
        anchors.margins: -Theme.space.s1
        radius: Theme.radius.control
        color: "transparent"
        border.width: control.visualFocus ? Theme.size.focusWidth : 0
        border.color: Theme.window
    }
}
