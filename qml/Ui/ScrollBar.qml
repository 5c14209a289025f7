import QtQuick
import QtQuick.Templates as T

// 8 wide, visible while scrolling or hovered.
T.ScrollBar {
    id: bar

    implicitWidth: Theme.size.scrollBar + 2 * Theme.space.hair
    implicitHeight: implicitWidth
    padding: Theme.space.hair
    minimumSize: orientation === Qt.Vertical ? Theme.size.scrollHandleMin / Math.max(1, height)
                                             : Theme.size.scrollHandleMin / Math.max(1, width)
    hoverEnabled: true
    visible: policy !== T.ScrollBar.AlwaysOff && size < 1

    Accessible.ignored: true

    contentItem: Rectangle {
        radius: Theme.radius.control
        color: bar.pressed ? Theme.text2 : Theme.outline
        opacity: bar.policy === T.ScrollBar.AlwaysOn || bar.active || bar.hovered ? 1 : 0
    }
}
