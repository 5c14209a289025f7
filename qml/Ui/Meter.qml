import QtQuick

// A small bar of parts of a whole, from the left: parts is a list of {share, color}. Used in the strip and the headers;
// its words stand beside it, so it is silent for screen readers.
Rectangle {
    id: meter

    property var parts: []

    implicitWidth: Theme.size.contextMeter
    implicitHeight: Theme.size.progress
    color: Theme.window
    border.width: Theme.size.hairline
    border.color: Theme.outline

    Accessible.ignored: true

    Row {
        x: Theme.size.hairline
        y: Theme.size.hairline

        Repeater {
            model: meter.parts

            Rectangle {
                required property var modelData

                width: Math.round((meter.width - 2 * Theme.size.hairline) * Math.min(1, Math.max(0, modelData.share || 0)))
                height: meter.height - 2 * Theme.size.hairline
                color: modelData.color
            }
        }
    }
}
