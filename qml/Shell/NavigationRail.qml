import QtQuick
import Colibri.Shell
import Colibri.Ui

// The pages at the left. `pages` is a list of {key, title, icon, badge}; only pages that exist stand in it.
Rectangle {
    id: rail

    required property var pages
    required property string current
    required property Appearance appearance
    property bool collapsed: false

    signal chosen(key: string)

    width: collapsed ? Theme.size.railCollapsed : Theme.size.rail
    color: Theme.sunken

    Behavior on width {
        NumberAnimation {
            duration: Theme.motion.slow
            easing.type: Theme.motion.easing
        }
    }

    Accessible.role: Accessible.PageTabList
    Accessible.name: qsTr("Pages")

    Hairline {
        vertical: true
        anchors.right: parent.right
        height: parent.height
    }
    Item {
        id: brand
        x: column.x
        y: Theme.space.s3
        width: column.width
        height: Theme.size.railItem

        Icon {
            id: bird
            x: rail.collapsed ? Math.round((parent.width - width) / 2) : Theme.space.s2
            anchors.verticalCenter: parent.verticalCenter
            name: "bird"
            size: Theme.size.brandIcon
            color: Theme.accent
        }
        Label {
            anchors.left: bird.right
            anchors.leftMargin: Theme.space.field
            anchors.verticalCenter: parent.verticalCenter
            visible: !rail.collapsed
            text: qsTr("Colibri")
            role: Theme.type.title
        }
    }
    Column {
        id: column
        x: rail.collapsed ? Theme.space.inner : Theme.space.s2
        y: brand.y + brand.height + Theme.space.s2 + Theme.space.s1
        width: rail.width - 2 * x - Theme.size.hairline
        spacing: Theme.space.s1

        Repeater {
            id: items
            model: rail.pages

            RailItem {
                required property var modelData
                required property int index

                objectName: "rail-" + modelData.key
                width: column.width
                text: modelData.title
                iconName: modelData.icon
                badge: modelData.badge || ""
                current: modelData.key === rail.current
                collapsed: rail.collapsed
                shortcutText: qsTr("Ctrl+%1", "keyboard shortcut of a page").arg(index + 1)
                onClicked: rail.chosen(modelData.key)
                Keys.onUpPressed: rail.focusItem(index - 1)
                Keys.onDownPressed: rail.focusItem(index + 1)
            }
        }
    }
    RailItem {
        id: look
        objectName: "rail-appearance"
        x: column.x
        anchors.bottom: parent.bottom
        anchors.bottomMargin: Theme.space.s2
        width: column.width
        text: qsTr("Appearance")
        iconName: "theme"
        collapsed: rail.collapsed
        onClicked: menu.openAt(look)

        property alias menu: menu
        Accessible.role: Accessible.ButtonMenu

        AppearanceMenu {
            id: menu
            objectName: "appearanceMenu"
            appearance: rail.appearance
        }
    }

    function focusItem(index: int) {
        const item = items.itemAt(index)
        if (item)
            item.forceActiveFocus(Qt.TabFocusReason)
    }
}
