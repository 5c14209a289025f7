import QtQuick

// A whole split into coloured and patterned parts, with a legend of letter, name and value below.
// parts is a list of {letter, label, color, pattern, letterColor, value, text}; rows of Theme.tables fit, with value and
// text (the value in words) added. The width of a part is its share of the sum.
Column {
    id: split

    property var parts: []
    property real barHeight: Theme.size.splitBar
    property bool legend: true
    property string label

    readonly property var shown: parts.filter(part => part.value > 0)
    readonly property real total: shown.reduce((sum, part) => sum + part.value, 0)

    spacing: Theme.space.s2

    Accessible.role: Accessible.StaticText
    Accessible.name: (label.length > 0 ? label + ": " : "") + shown.map(part => part.label + " " + part.text).join(", ")

    Row {
        id: bar
        width: split.width
        height: split.barHeight
        spacing: Theme.size.segmentGap

        readonly property real room: width - spacing * Math.max(0, split.shown.length - 1)

        Repeater {
            model: split.shown

            Rectangle {
                id: segment

                required property var modelData

                width: Math.max(Theme.size.segmentMin, Math.floor(bar.room * modelData.value / split.total))
                height: bar.height
                color: modelData.color
                // what is free is hollow
                border.width: modelData.pattern === "empty" ? Theme.size.hairline : 0
                border.color: Theme.outline

                Pattern {
                    anchors.fill: parent
                    name: segment.modelData.pattern
                    color: segment.modelData.letterColor
                }
            }
        }
    }
    Flow {
        width: split.width
        spacing: Theme.space.s1
        visible: split.legend

        Repeater {
            model: split.legend ? split.shown : []

            Row {
                id: entry

                required property var modelData

                spacing: Theme.space.inner
                rightPadding: Theme.space.s3

                LegendKey {
                    anchors.verticalCenter: parent.verticalCenter
                    part: entry.modelData
                }
                Label {
                    text: entry.modelData.label
                    role: Theme.type.caption
                    color: Theme.text2
                    Accessible.ignored: true
                }
                Label {
                    text: entry.modelData.text
                    role: Theme.type.caption
                    Accessible.ignored: true
                }
            }
        }
    }
}
