import QtQuick
import QtQuick.Templates as T

// A value on a track. Arrows move one step, Page ten, Home and End to the ends. `limit` marks the most that is possible
// when that lies below the end of the scale; dragging past it is allowed.
T.Slider {
    id: control

    property string label
    // The value in words, for screen readers.
    property string valueText
    property real limit: NaN
    property string disabledReason

    readonly property real step: stepSize > 0 ? stepSize : (to - from) / 100
    readonly property real limitPosition: (limit - from) / (to - from)

    implicitWidth: Theme.scaled(200)
    implicitHeight: Theme.size.sliderHit
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus

    Accessible.role: Accessible.Slider
    Accessible.name: label
    Accessible.description: enabled ? valueText : disabledReason
    Accessible.onIncreaseAction: moveBy(1)
    Accessible.onDecreaseAction: moveBy(-1)

    Keys.onPressed: event => {
        const steps = event.key === Qt.Key_PageUp ? 10 : event.key === Qt.Key_PageDown ? -10 : 0
        if (steps !== 0)
            moveBy(steps)
        else if (event.key === Qt.Key_Home)
            moveTo(from)
        else if (event.key === Qt.Key_End)
            moveTo(to)
        event.accepted = steps !== 0 || event.key === Qt.Key_Home || event.key === Qt.Key_End
    }

    function moveBy(steps: int) {
        moveTo(value + steps * step)
    }

    function moveTo(target: real) {
        const before = value
        value = Math.min(to, Math.max(from, target))
        if (value !== before)
            moved()
    }

    background: Item {
        readonly property real travel: control.availableWidth - control.handle.width
        readonly property real start: control.leftPadding + control.handle.width / 2

        Rectangle {
            id: track
            x: control.leftPadding
            y: Math.round((control.height - height) / 2)
            width: control.availableWidth
            height: Theme.size.sliderTrack
            radius: Theme.radius.bar
            color: control.enabled ? Theme.outline : Theme.border
        }
        Rectangle {
            x: control.leftPadding
            y: track.y
            width: Math.round(parent.start - control.leftPadding + parent.travel * control.visualPosition)
            height: track.height
            radius: Theme.radius.bar
            color: control.enabled ? Theme.accent : Theme.textDisabled
        }
        Rectangle {
            visible: control.limitPosition > 0 && control.limitPosition < 1
            x: visible ? Math.round(parent.start + parent.travel * control.limitPosition) : 0
            y: Math.round((control.height - height) / 2)
            width: Theme.size.sliderMarkW
            height: Theme.size.sliderMarkH
            color: Theme.text2
        }
    }
    handle: Rectangle {
        readonly property bool grown: control.enabled && (control.hovered || control.pressed)

        x: Math.round(control.leftPadding + control.visualPosition * (control.availableWidth - width))
        y: Math.round((control.height - height) / 2)
        width: grown ? Theme.size.sliderHandleHovered : Theme.size.sliderHandle
        height: width
        radius: width / 2
        color: control.pressed ? Theme.accentSoft : Theme.surface
        border.width: 2 * Theme.size.hairline
        border.color: control.enabled ? Theme.accent : Theme.textDisabled

        FocusRing {
            visible: control.visualFocus
            targetRadius: parent.width / 2
        }
    }

    HoverTip {
        shown: control.hovered || control.visualFocus
        text: control.enabled ? "" : control.disabledReason
    }
}
