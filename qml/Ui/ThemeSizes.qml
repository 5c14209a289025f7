import QtQml

// Sizes of the visual guide, section 4, in device-independent pixels. What holds text or an icon grows with the text size;
// gaps, hairlines and limits of the window do not.
QtObject {
    id: sizes

    // text size, 0.8 to 2
    property real factor: 1

    function scaled(pixels: real) : real {
        return Math.round(pixels * factor)
    }

    readonly property real controlCompact: scaled(28)
    readonly property real control: scaled(32)
    readonly property real controlLarge: scaled(40)
    readonly property real rowDense: scaled(32)
    readonly property real row: scaled(40)
    readonly property real rail: scaled(176)
    // the gaps beside the icon stay
    readonly property real railCollapsed: 36 + icon
    readonly property real statusStrip: scaled(30)
    readonly property real header: scaled(56)
    readonly property real chatList: scaled(240)
    readonly property real readingWidth: scaled(720)
    readonly property real icon: scaled(20)
    readonly property real iconSmall: scaled(16)
    readonly property real iconGrid: 24
    readonly property real iconStroke: 1.75
    readonly property real switchW: scaled(36)
    readonly property real switchH: scaled(20)
    readonly property real sliderHandle: scaled(16)
    readonly property real sliderTrack: 4
    readonly property real memoryBar: scaled(28)
    readonly property real shardCellMin: 14
    readonly property real expertCellW: 2
    readonly property real expertCellH: 6
    readonly property real focusWidth: 2
    readonly property real focusOffset: 2
    readonly property real minWindowW: 960
    readonly property real minWindowH: 640
    readonly property real railCollapseBelow: 1100
    readonly property real chatListCollapseBelow: 1100

    readonly property real hairline: 1
    readonly property real hitArea: 28
    readonly property real railItem: scaled(36)
    readonly property real railMarkW: 3
    readonly property real railMarkH: scaled(20)
    readonly property real brandIcon: scaled(22)
    readonly property real iconButton: scaled(18)
    readonly property real iconChip: scaled(14)
    readonly property real chip: scaled(22)
    readonly property real checkBox: scaled(18)
    readonly property real switchKnob: scaled(12)
    readonly property real sliderHandleHovered: scaled(18)
    readonly property real sliderHit: scaled(32)
    readonly property real sliderMarkW: 2
    readonly property real sliderMarkH: scaled(12)
    readonly property real statusDot: 8
    readonly property real miniGaugeW: scaled(56)
    readonly property real miniGaugeH: scaled(6)
    readonly property real progress: scaled(8)
    readonly property real splitBar: scaled(12)
    readonly property real gauge: scaled(16)
    readonly property real legendKey: scaled(16)
    readonly property real segmentMin: 3
    readonly property real segmentGap: 2
    readonly property real contextMeter: scaled(96)
    readonly property real scrollBar: 8
    readonly property real scrollHandleMin: 32
    readonly property real dialog: scaled(480)
    readonly property real toolTipMax: scaled(320)
    readonly property real menuMin: scaled(160)
    readonly property real menuMax: scaled(400)
    readonly property real chatListRow: scaled(46)
    readonly property real messageMax: scaled(580)
    readonly property real emptyStateMax: scaled(360)
    readonly property real firstWindowW: 1280
    readonly property real firstWindowH: 800
}
