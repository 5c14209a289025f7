import QtQuick

// The ring of keyboard focus, outside the control it lies in. Never animated.
Rectangle {
    id: ring

    property real targetRadius: Theme.radius.control

    anchors.fill: parent
    anchors.margins: -(Theme.size.focusOffset + Theme.size.focusWidth)
    radius: targetRadius + Theme.size.focusOffset + Theme.size.focusWidth
    color: "transparent"
    border.width: Theme.size.focusWidth
    border.color: Theme.focus
}
