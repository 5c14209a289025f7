import QtQuick
import QtQuick.Templates as T

// A square button with an icon alone; `text` is its accessible name and its tooltip.
T.Button {
    id: control

    property string iconName
    property bool compact: false
    // an edge also while it is not hovered
    property bool outlined: false
    property string disabledReason
    // pressed-in look, for a toggle
    property bool current: checkable && checked

    readonly property color foreground: !enabled ? Theme.textDisabled : current ? Theme.accentSoftInk : Theme.text

    implicitWidth: compact ? Theme.size.controlCompact : Theme.size.control
    implicitHeight: implicitWidth
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus

    Accessible.role: Accessible.Button
    Accessible.name: text
    Accessible.description: enabled ? "" : disabledReason
    Accessible.checkable: checkable
    Accessible.checked: checked
    Accessible.onPressAction: press()

    Keys.onReturnPressed: press()
    Keys.onEnterPressed: press()

    // What a key or a screen reader does; the same as a click.
    function press() {
        if (checkable) {
            toggle()
            toggled()
        }
        clicked()
    }

    contentItem: Item {
        Icon {
            anchors.centerIn: parent
            name: control.iconName
            size: Theme.size.iconButton
            color: control.foreground
        }
    }
    background: Rectangle {
        radius: Theme.radius.control
        color: !control.enabled ? "transparent"
            : control.down ? Theme.pressed
            : control.hovered ? Theme.hover
            : control.current ? Theme.accentSoft
            : control.outlined ? Theme.surface : "transparent"
        border.width: control.outlined || control.current && Theme.softEdge > 0 ? Theme.size.hairline : 0
        border.color: control.enabled ? Theme.outline : Theme.border

        FocusRing {
            visible: control.visualFocus
        }
    }

    HoverTip {
        shown: control.hovered || control.visualFocus
        text: control.enabled || control.disabledReason.length === 0 ? control.text : control.disabledReason
    }
}
