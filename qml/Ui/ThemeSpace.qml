import QtQml

// Gaps of the visual guide, section 4: a grid of 4. They do not grow with the text.
QtObject {
    readonly property int s1: 4
    readonly property int s2: 8
    readonly property int s3: 12
    readonly property int s4: 16
    readonly property int s5: 24
    readonly property int s6: 32
    readonly property int s7: 48
    // inside controls and chips, between an icon and its word
    readonly property int hair: 2
    readonly property int inner: 6
    readonly property int field: 10
}
