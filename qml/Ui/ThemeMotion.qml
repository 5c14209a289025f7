import QtQuick

// Times of the visual guide, section 5, in ms. With reduced motion every animation takes no time; how often figures
// are refreshed and how long a toast stays are not animations and do not change.
QtObject {
    property bool reduced: false

    readonly property int instant: 0
    readonly property int quick: reduced ? 0 : 90
    readonly property int normal: reduced ? 0 : 160
    readonly property int slow: reduced ? 0 : 240
    readonly property int easing: Easing.OutCubic
    readonly property int progressTick: 250
    readonly property int telemetryTick: 50
    readonly property int toastStay: 6000
    readonly property int toolTipDelay: 500
}
