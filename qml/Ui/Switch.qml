import QtQuick
import QtQuick.Templates as T

// On or off, with effect at once. The text stands at its right; without one, `label` names it.
T.Switch {
    id: control

    property string label
    property string disabledReason

    implicitWidth: text.length > 0 ? Theme.size.switchW + spacing + implicitContentWidth : Theme.size.switchW
    implicitHeight: Math.max(Theme.size.hitArea, Theme.size.switchH)
    spacing: Theme.space.s2
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    font: Theme.type.body.font

    Accessible.role: Accessible.CheckBox
    Accessible.name: text.length > 0 ? text : label
    Accessible.description: enabled ? (checked ? qsTr("on") : qsTr("off")) : disabledReason
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
        y: Math.round((control.height - height) / 2)
        width: Theme.size.switchW
        height: Theme.size.switchH
        radius: height / 2
        color: control.checked ? (control.enabled ? Theme.accent : Theme.hover)
            : control.hovered && control.enabled ? Theme.hover : Theme.surface
        border.width: Theme.size.hairline
        border.color: !control.enabled ? Theme.border : control.checked ? Theme.accent : Theme.outline

        Rectangle {
            readonly property real gap: Math.round((parent.height - height) / 2)

            x: control.checked ? parent.width - width - gap : gap
            y: gap
            width: Theme.size.switchKnob
            height: width
            radius: height / 2
            color: !control.enabled ? Theme.textDisabled : control.checked ? Theme.accentInk : Theme.outline

            Behavior on x {
                NumberAnimation {
                    duration: Theme.motion.quick
                    easing.type: Theme.motion.easing
                }
            }
        }
        FocusRing {
            visible: control.visualFocus
            targetRadius: parent.height / 2
        }
    }
    contentItem: Text {
        leftPadding: Theme.size.switchW + control.spacing
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
