import QtQuick
import QtQuick.Templates as T
import Colibri.Ui

// A row of the navigation rail: icon and word, collapsed to the icon with a tooltip. May carry one short figure at the right.
T.AbstractButton {
    id: item

    required property string iconName
    property string badge
    property bool current: false
    property bool collapsed: false
    property string shortcutText

    readonly property color foreground: current ? Theme.accentSoftInk : hovered || down ? Theme.text : Theme.text2

    implicitHeight: Theme.size.railItem
    leftPadding: Theme.space.s2
    rightPadding: Theme.space.s2
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus

    Accessible.role: Accessible.PageTab
    Accessible.name: badge.length > 0 ? text + ", " + badge : text
    Accessible.selected: current
    Accessible.onPressAction: clicked()

    Keys.onReturnPressed: clicked()
    Keys.onEnterPressed: clicked()

    contentItem: Item {
        Icon {
            id: icon
            x: item.collapsed ? Math.round((parent.width - width) / 2) : 0
            anchors.verticalCenter: parent.verticalCenter
            name: item.iconName
            size: Theme.size.icon
            color: item.foreground
        }
        Text {
            id: word
            anchors.left: icon.right
            anchors.leftMargin: Theme.space.field
            anchors.right: badgeText.left
            anchors.rightMargin: badgeText.visible ? Theme.space.s2 : 0
            anchors.verticalCenter: parent.verticalCenter
            visible: !item.collapsed
            text: item.text
            textFormat: Text.PlainText
            font: item.current ? Theme.type.strong.font : Theme.type.body.font
            color: item.foreground
            elide: Text.ElideRight
        }
        Text {
            id: badgeText
            anchors.right: parent.right
            anchors.verticalCenter: parent.verticalCenter
            width: visible ? implicitWidth : 0
            visible: !item.collapsed && text.length > 0
            text: item.badge
            textFormat: Text.PlainText
            font: Theme.type.caption.font
            color: item.foreground
        }
    }
    background: Rectangle {
        radius: Theme.radius.control
        color: item.current ? Theme.accentSoft : item.down ? Theme.pressed : item.hovered ? Theme.hover : "transparent"
        border.width: item.current ? Theme.softEdge : 0
        border.color: Theme.border

        Rectangle {
            anchors.verticalCenter: parent.verticalCenter
            width: Theme.size.railMarkW
            height: Theme.size.railMarkH
            visible: item.current
            color: Theme.accent
        }
        FocusRing {
            // the rail leaves no room for the ring outside
            anchors.margins: 0
            radius: Theme.radius.control
            visible: item.visualFocus
        }
    }

    HoverTip {
        shown: item.hovered || item.visualFocus
        text: !item.collapsed && !word.truncated ? ""
            : item.shortcutText.length > 0 ? item.text + " (" + item.shortcutText + ")" : item.text
    }
}
