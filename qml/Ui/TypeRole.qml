import QtQuick

// One type role: its font and line height at the present text size.
QtObject {
    id: role

    property string family
    property real factor: 1
    property int baseSize: 14
    property int baseLineHeight: 20
    property int weight: 400

    readonly property int size: Math.max(1, Math.round(baseSize * factor))
    readonly property int lineHeight: Math.round(baseLineHeight * factor)
    readonly property font font: Qt.font({
        family: role.family, pixelSize: role.size, weight: role.weight,
        // JetBrains Mono would join "->" and "<=" into one glyph.
        preferShaping: role.family !== "JetBrains Mono"
    })

    // Text puts the extra space of a fixed line height below the line; half of it belongs above.
    readonly property real inset: Math.max(0, Math.round((lineHeight - metrics.height) / 2))
    readonly property FontMetrics metrics: FontMetrics {
        font: role.font
    }
}
