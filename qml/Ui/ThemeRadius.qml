import QtQml

// Corners of the visual guide, section 4; always four equal ones.
QtObject {
    readonly property int bar: 2
    readonly property int control: 4
    readonly property int card: 8
}
