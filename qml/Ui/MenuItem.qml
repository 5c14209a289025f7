import QtQuick
import QtQuick.Templates as T

// A row of a menu. `shortcutText` stands at the right; a checkable row shows a check when it is chosen.
T.MenuItem {
    id: item

    property string iconName
    property string shortcutText
    property bool destructive: false

    readonly property color foreground: !enabled ? Theme.textDisabled : destructive ? Theme.error : Theme.text

    implicitWidth: leftPadding + Math.ceil(row.wanted) + rightPadding
    implicitHeight: Theme.size.rowDense
    leftPadding: Theme.space.field
    rightPadding: Theme.space.field
    spacing: Theme.space.s2
    hoverEnabled: true
    font: Theme.type.body.font

    Accessible.role: checkable ? Accessible.RadioButton : Accessible.MenuItem
    Accessible.name: text
    Accessible.checkable: checkable
    Accessible.checked: checked
    Accessible.onPressAction: press()

    // What a key or a screen reader does; the same as a click.
    function press() {
        if (checkable)
            toggle()
        triggered()
    }

    contentItem: Item {
        implicitWidth: row.wanted

        Row {
            id: row

            // what the row would take with its whole words
            readonly property real wanted: front + word.implicitWidth + back
            readonly property real front: (icon.visible ? icon.width + spacing : 0)
            readonly property real back: shortcut.text.length > 0 ? shortcut.implicitWidth + Theme.space.s5 : 0

            anchors.verticalCenter: parent.verticalCenter
            spacing: item.spacing

            Icon {
                id: icon
                anchors.verticalCenter: parent.verticalCenter
                visible: item.checkable || name.length > 0
                name: item.checkable ? (item.checked ? "check" : "") : item.iconName
                color: item.foreground
            }
            Text {
                id: word
                width: Math.min(implicitWidth, Math.max(0, item.availableWidth - row.front - row.back))
                text: item.text
                textFormat: Text.PlainText
                font: item.font
                color: item.foreground
                elide: Text.ElideRight
            }
        }
        Text {
            id: shortcut
            anchors.right: parent.right
            anchors.verticalCenter: parent.verticalCenter
            text: item.shortcutText
            textFormat: Text.PlainText
            font: item.font
            color: item.enabled ? Theme.text2 : Theme.textDisabled
        }
    }
    background: Rectangle {
        x: Theme.size.hairline
        width: item.width - 2 * x
        color: item.down ? Theme.pressed : item.highlighted ? Theme.hover : "transparent"
    }
}
