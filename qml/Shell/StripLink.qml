import QtQuick
import QtQuick.Templates as T
import Colibri.Ui

// A deed named in the strip.
T.AbstractButton {
    id: link

    implicitWidth: word.implicitWidth
    implicitHeight: Theme.size.hitArea
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus

    Accessible.role: Accessible.Button
    Accessible.name: text
    Accessible.onPressAction: clicked()

    Keys.onReturnPressed: clicked()
    Keys.onEnterPressed: clicked()

    contentItem: Text {
        id: word
        text: link.text
        textFormat: Text.PlainText
        font.family: Theme.type.caption.family
        font.pixelSize: Theme.type.caption.size
        font.underline: link.hovered
        color: Theme.accent
        verticalAlignment: Text.AlignVCenter
    }
    background: FocusRing {
        anchors.margins: 0
        visible: link.visualFocus
    }
}
