import QtQuick
import QtQuick.Templates as T

// A surface with a hairline. Content goes in as children of its content item; a card never lies on a card.
T.Pane {
    id: card

    // 12 above and below instead of 16
    property bool tight: false

    implicitWidth: Math.max(implicitBackgroundWidth, implicitContentWidth + leftPadding + rightPadding)
    implicitHeight: Math.max(implicitBackgroundHeight, implicitContentHeight + topPadding + bottomPadding)
    padding: Theme.space.s4
    topPadding: tight ? Theme.space.s3 : Theme.space.s4
    bottomPadding: topPadding

    background: Rectangle {
        color: Theme.surface
        radius: Theme.radius.card
        border.width: Theme.size.hairline
        border.color: Theme.border
    }
}
