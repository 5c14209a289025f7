import QtQuick
import QtQuick.Templates as T

// A button with a word and, if wanted, an icon. At most one Primary a view; Destructive is filled only in its dialog.
T.Button {
    id: control

    enum Kind { Normal, Primary, Quiet, Destructive }

    property int kind: Button.Normal
    property bool filled: kind === Button.Primary
    // 28 high in cards and tables, 40 for a dialog's or first page's main act
    property bool compact: false
    property bool large: false
    property string iconName
    // an icon behind the word, such as chevronDown where a menu opens
    property string trailingIcon
    // While busy the button keeps its width, says what it does and takes no clicks.
    property bool busy: false
    property string busyText
    property string toolTip
    // Why it is disabled; its tooltip then.
    property string disabledReason

    readonly property bool active: enabled && !busy
    readonly property TypeRole role: compact ? Theme.type.buttonCompact : Theme.type.button
    readonly property bool danger: kind === Button.Destructive
    readonly property color foreground: !active ? Theme.textDisabled
        : filled ? (danger ? Theme.surface : Theme.accentInk)
        : danger ? Theme.error : Theme.text

    implicitWidth: Math.max(implicitHeight, Math.ceil(implicitContentWidth) + leftPadding + rightPadding)
    implicitHeight: compact ? Theme.size.controlCompact : large ? Theme.size.controlLarge : Theme.size.control
    leftPadding: compact ? Theme.space.field : large ? Theme.space.s4 + Theme.space.s1 : Theme.space.s3
    rightPadding: leftPadding
    spacing: Theme.space.s2
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    font: role.font

    Accessible.role: Accessible.Button
    Accessible.name: busy && busyText.length > 0 ? busyText : text
    Accessible.description: enabled ? toolTip : disabledReason
    Accessible.onPressAction: if (active) clicked()

    // A busy control still holds the keyboard focus, so that it does not jump away while the work runs.
    Keys.onPressed: event => event.accepted = busy && (event.key === Qt.Key_Space || event.key === Qt.Key_Return)
    Keys.onReturnPressed: if (active) clicked()
    Keys.onEnterPressed: if (active) clicked()

    contentItem: Item {
        // Room for the busy words too, so that nothing beside moves when the work begins and ends.
        implicitWidth: Math.max(plainWords.advanceWidth + (control.iconName.length > 0 ? iconRoom : 0),
            control.busyText.length > 0 ? busyWords.advanceWidth + iconRoom : 0) + (back.visible ? iconRoom : 0)
        implicitHeight: words.implicitHeight

        readonly property real iconRoom: Theme.size.iconSmall + control.spacing

        TextMetrics {
            id: plainWords
            font: control.font
            text: control.text
        }
        TextMetrics {
            id: busyWords
            font: control.font
            text: control.busyText
        }
        Row {
            id: words

            readonly property real iconsWidth: (front.visible ? front.width + spacing : 0)
                + (back.visible ? back.width + spacing : 0)

            anchors.centerIn: parent
            spacing: control.spacing

            Icon {
                id: front
                anchors.verticalCenter: parent.verticalCenter
                name: control.busy ? "think" : control.iconName
                visible: name.length > 0
                color: control.foreground
            }
            Text {
                id: word
                anchors.verticalCenter: parent.verticalCenter
                width: Math.min(implicitWidth, Math.max(0, control.availableWidth - words.iconsWidth))
                text: control.busy && control.busyText.length > 0 ? control.busyText : control.text
                textFormat: Text.PlainText
                font: control.font
                color: control.foreground
                elide: Text.ElideRight
            }
            Icon {
                id: back
                anchors.verticalCenter: parent.verticalCenter
                name: control.trailingIcon
                visible: name.length > 0
                color: control.foreground
            }
        }
    }
    background: Rectangle {
        radius: Theme.radius.control
        color: control.fillColor()
        border.width: Theme.size.hairline
        border.color: control.edgeColor()

        FocusRing {
            visible: control.visualFocus
        }
    }

    function fillColor() : color {
        if (!active)
            return filled ? Theme.hover : "transparent"
        if (filled && danger)
            return Theme.error
        if (filled)
            return down ? Theme.accentPressed : hovered ? Theme.accentHover : Theme.accent
        if (down)
            return danger ? Theme.errorSoft : Theme.pressed
        if (hovered)
            return danger ? Theme.errorSoft : Theme.hover
        return kind === Button.Quiet ? "transparent" : Theme.surface
    }

    function edgeColor() : color {
        if (!active)
            return kind === Button.Quiet ? "transparent" : Theme.border
        if (filled)
            return fillColor()
        return kind === Button.Quiet ? "transparent" : danger ? Theme.error : Theme.outline
    }

    HoverTip {
        shown: control.hovered || control.visualFocus
        text: !control.enabled ? control.disabledReason
            : control.toolTip.length > 0 ? control.toolTip
            : word.truncated ? control.text : ""
    }
    // A busy button swallows clicks itself: disabling it would move the focus away.
    MouseArea {
        anchors.fill: parent
        enabled: control.busy
        visible: enabled
    }
}
