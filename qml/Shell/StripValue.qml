import QtQuick
import Colibri.Ui

// A live figure of the strip, as wide as its longest value, so that nothing moves beside it.
Label {
    id: value

    property string longest

    role: Theme.type.captionStrong
    width: Math.max(implicitWidth, Math.ceil(metrics.advanceWidth))
    Accessible.ignored: true

    TextMetrics {
        id: metrics
        font: value.font
        text: value.longest
    }
}
