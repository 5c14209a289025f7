import QtQuick
import QtQuick.Templates as T

// One line of text. `label` is its accessible name; the visible label stands beside it (FormField does both).
T.TextField {
    id: control

    property string label
    // stands inside at the right: GiB
    property string unit
    property string iconName
    // A sentence with the nearest valid value; the field turns red while there is one.
    property string errorText
    property string disabledReason
    property bool compact: false
    property bool mono: false

    readonly property bool failed: errorText.length > 0
    readonly property real leading: iconName.length > 0 ? front.width + Theme.space.s2 : 0
    readonly property real trailing: (unit.length > 0 ? unitText.width + Theme.space.s2 : 0)
        + (failed ? octagon.width + Theme.space.s2 : 0)

    implicitWidth: Theme.scaled(200)
    implicitHeight: compact ? Theme.size.controlCompact : Theme.size.control
    leftPadding: Theme.space.field + leading
    rightPadding: Theme.space.field + trailing
    topPadding: 0
    bottomPadding: 0
    verticalAlignment: TextInput.AlignVCenter
    hoverEnabled: true
    selectByMouse: true
    font: mono ? Theme.type.code.font : compact ? Theme.type.small.font : Theme.type.body.font
    color: enabled ? Theme.text : Theme.textDisabled
    selectionColor: Theme.accent
    selectedTextColor: Theme.accentInk
    placeholderTextColor: enabled ? Theme.text2 : Theme.textDisabled

    Accessible.role: Accessible.EditableText
    Accessible.name: label.length > 0 ? label : placeholderText
    Accessible.description: failed ? errorText : !enabled ? disabledReason : unit
    Accessible.editable: !readOnly
    Accessible.readOnly: readOnly

    cursorDelegate: Caret {
        shown: control.cursorVisible
    }

    Text {
        x: control.leftPadding
        width: control.width - control.leftPadding - control.rightPadding
        height: control.height
        verticalAlignment: Text.AlignVCenter
        text: control.placeholderText
        textFormat: Text.PlainText
        font: control.font
        color: control.placeholderTextColor
        elide: Text.ElideRight
        visible: control.length === 0 && control.preeditText.length === 0
        Accessible.ignored: true
    }
    Icon {
        id: front
        x: Theme.space.field
        anchors.verticalCenter: parent.verticalCenter
        name: control.iconName
        visible: name.length > 0
        color: control.enabled ? Theme.text2 : Theme.textDisabled
    }
    Text {
        id: unitText
        anchors.right: parent.right
        anchors.rightMargin: Theme.space.field + (octagon.visible ? octagon.width + Theme.space.s2 : 0)
        anchors.verticalCenter: parent.verticalCenter
        text: control.unit
        textFormat: Text.PlainText
        font: control.font
        color: control.enabled ? Theme.text2 : Theme.textDisabled
        Accessible.ignored: true
    }
    Icon {
        id: octagon
        anchors.right: parent.right
        anchors.rightMargin: Theme.space.field
        anchors.verticalCenter: parent.verticalCenter
        name: "error"
        visible: control.failed
        color: Theme.error
    }

    background: FieldFrame {
        field: control
        hovered: control.hovered
        failed: control.failed
        focusRing: control.activeFocus
    }

    HoverTip {
        shown: control.hovered
        text: control.enabled ? "" : control.disabledReason
    }
}
