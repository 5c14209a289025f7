import QtQuick

// The edge and ground of everything one types into or chooses in.
Rectangle {
    id: frame

    required property Item field
    property bool failed: false
    property bool hovered: false
    property bool focusRing: false

    radius: Theme.radius.control
    color: field.enabled ? Theme.surface : Theme.window
    border.width: Theme.size.hairline
    border.color: !field.enabled ? Theme.border
        : failed ? Theme.error
        : hovered ? Theme.text2 : Theme.outline

    FocusRing {
        visible: frame.focusRing
        targetRadius: frame.radius
    }
}
