import QtQuick
import QtQuick.Templates as T

// A list of deeds or choices below its button: menu.openAt(button). Opens at once, never over its button.
T.Menu {
    id: menu

    // Below the item, or above it where there is no room.
    function openAt(item: Item) {
        // from the keyboard, the first row is current at once
        const fromKeyboard = item.activeFocus
        parent = item
        const below = item.mapToItem(null, 0, item.height).y + Theme.space.s1 + implicitHeight
        const room = item.Window.window ? item.Window.window.height : below
        popup(item, 0, below <= room ? item.height + Theme.space.s1 : -implicitHeight - Theme.space.s1)
        currentIndex = fromKeyboard ? 0 : -1
    }

    implicitWidth: Math.max(Theme.size.menuMin, Math.min(Theme.size.menuMax, widest() + 2 * padding))
    implicitHeight: contentItem.implicitHeight + topPadding + bottomPadding
    padding: Theme.size.hairline
    topPadding: Theme.space.s1
    bottomPadding: Theme.space.s1
    margins: Theme.space.s2
    overlap: 1
    cascade: true
    modal: false

    function widest() : real {
        let width = 0
        for (let index = 0; index < count; ++index) {
            const item = itemAt(index)
            width = Math.max(width, item ? item.implicitWidth : 0)
        }
        return width
    }

    delegate: MenuItem {}
    contentItem: ListView {
        implicitHeight: contentHeight
        model: menu.contentModel
        interactive: Window.window ? contentHeight > height : false
        clip: true
        currentIndex: menu.currentIndex
        highlightMoveDuration: Theme.motion.instant
        boundsBehavior: Flickable.StopAtBounds
        T.ScrollBar.vertical: ScrollBar {}
    }
    background: Rectangle {
        implicitWidth: Theme.size.menuMin
        color: Theme.surface
        radius: Theme.radius.control
        border.width: Theme.size.hairline
        border.color: Theme.outline
    }
}
