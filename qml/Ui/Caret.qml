import QtQuick

// The insertion mark of a field. It does not blink: nothing here does.
Rectangle {
    property bool shown: true

    width: Theme.size.hairline
    color: Theme.text
    visible: shown
}
