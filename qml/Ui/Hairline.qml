import QtQuick

// A 1-pixel line between surfaces; lies along its longer side.
Rectangle {
    property bool vertical: false

    implicitWidth: vertical ? Theme.size.hairline : 0
    implicitHeight: vertical ? 0 : Theme.size.hairline
    color: Theme.border
}
