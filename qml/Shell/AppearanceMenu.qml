import QtQuick
import Colibri.Shell
import Colibri.Ui

// Theme, text size and motion. Takes effect at once.
Menu {
    id: menu

    required property Appearance appearance

    MenuItem {
        objectName: "theme-system"
        text: qsTr("Follow the system")
        checkable: true
        checked: menu.appearance.theme === "system"
        onTriggered: menu.choose("system")
    }
    MenuItem {
        objectName: "theme-light"
        text: qsTr("Light")
        checkable: true
        checked: menu.appearance.theme === "light"
        onTriggered: menu.choose("light")
    }
    MenuItem {
        objectName: "theme-dark"
        text: qsTr("Dark")
        checkable: true
        checked: menu.appearance.theme === "dark"
        onTriggered: menu.choose("dark")
    }
    MenuItem {
        objectName: "theme-contrast"
        text: qsTr("High contrast")
        checkable: true
        checked: menu.appearance.theme === "contrast"
        onTriggered: menu.choose("contrast")
    }
    MenuSeparator {}
    MenuItem {
        text: qsTr("Larger text")
        iconName: "add"
        shortcutText: qsTr("Ctrl++")
        enabled: menu.appearance.textScale < 2
        onTriggered: menu.appearance.textScale += 0.1
    }
    MenuItem {
        text: qsTr("Smaller text")
        iconName: "minus"
        shortcutText: qsTr("Ctrl+-")
        enabled: menu.appearance.textScale > 0.8
        onTriggered: menu.appearance.textScale -= 0.1
    }
    MenuItem {
        text: qsTr("Less motion")
        checkable: true
        checked: menu.appearance.reducedMotion
        onTriggered: {
            menu.appearance.reducedMotion = !menu.appearance.reducedMotion
            checked = Qt.binding(() => menu.appearance.reducedMotion)
        }
    }

    // A click has set `checked` of the row itself; the rows follow the stored choice again.
    function choose(theme: string) {
        appearance.theme = theme
        for (const [index, key] of ["system", "light", "dark", "contrast"].entries()) {
            const row = itemAt(index) as MenuItem
            row.checked = Qt.binding(() => menu.appearance.theme === key)
        }
    }
}
