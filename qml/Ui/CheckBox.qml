import QtQuick
import QtQuick.Templates as T

// A choice that takes effect with a button, not at once (else a Switch).
T.CheckBox {
    id: control

    property string label
    property string disabledReason

    implicitWidth: text.length > 0 ? Theme.size.checkBox + spacing + words.implicitWidth - words.leftPadding : Theme.size.hitArea
    implicitHeight: Math.max(Theme.size.hitArea, Theme.size.checkBox)
    spacing: Theme.space.s2
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    font: Theme.type.body.font

    Accessible.role: Accessible.CheckBox
    Accessible.name: text.length > 0 ? text : label
    Accessible.description: enabled ? "" : disabledReason
    Accessible.checkable: true
    Accessible.checked: checked
    Accessible.onPressAction: press()
    Accessible.onToggleAction: press()

    Keys.onReturnPressed: press()
    Keys.onEnterPressed: press()

    // What a key or a screen reader does; the same as a click.
    function press() {
        toggle()
        toggled()
        clicked()
    }

    indicator: Rectangle {
        x: control.text.length > 0 ? 0 : Math.round((control.width - width) / 2)
        y: Math.round((control.height - height) / 2)
        width: Theme.size.checkBox
        height: width
        radius: Theme.radius.control
        color: !control.enabled ? (control.checked ? Theme.hover : Theme.window)
            : control.checked ? Theme.accent
            : control.down ? Theme.pressed : control.hovered ? Theme.hover : Theme.surface
        border.width: Theme.size.hairline
        border.color: !control.enabled ? Theme.border : control.checked ? Theme.accent : Theme.outline

        Icon {
            anchors.centerIn: parent
            name: "check"
            size: Theme.size.iconChip
            visible: control.checked
            color: control.enabled ? Theme.accentInk : Theme.textDisabled
        }
        FocusRing {
            visible: control.visualFocus
        }
    }
    contentItem: Text {
        id: words
        leftPadding: Theme.size.checkBox + control.spacing
        text: control.text
        textFormat: Text.PlainText
        visible: text.length > 0
        font: control.font
        color: control.enabled ? Theme.text : Theme.textDisabled
        verticalAlignment: Text.AlignVCenter
        elide: Text.ElideRight
    }

    HoverTip {
        shown: control.hovered || control.visualFocus
        text: control.enabled ? "" : control.disabledReason
    }
}
