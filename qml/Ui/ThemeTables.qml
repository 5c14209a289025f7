import QtQml

// Tables of the visual guide, sections 2.3 to 2.5: memory tags, expert tiers, the parts of an answer's time, states of a
// shard and the heat ramps. A row is {key, letter, label, color, pattern, letterColor}; `color` is that of the theme shown.
QtObject {
    id: tables

    // "light", "dark" or "highContrast"
    property string variant: "light"

    readonly property int themeIndex: variant === "light" ? 0 : variant === "dark" ? 1 : 2

    // colors and letterColors are [light, dark, highContrast]; an empty letterColors means that no letter is drawn on the row.
    function row(key: string, letter: string, label: string, colors: var, pattern: string, letterColors: var) : var {
        return {
            key: key, letter: letter, label: label, color: colors[themeIndex], pattern: pattern,
            letterColor: letterColors.length > 0 ? letterColors[themeIndex] : ""
        }
    }

    // in the order of every bar
    readonly property var memoryTags: [
        row("dense", "D", qsTr("Dense weights"), ["#3A3F9E", "#6F78E0", "#8C96FF"],
            "solid", ["#FFFFFF", "#0B0F12", "#0B0F12"]),
        row("head", "H", qsTr("Head and embeddings"), ["#3E86C6", "#9CCBF2", "#BFE3FF"],
            "rise", ["#0B0F12", "#0B0F12", "#0B0F12"]),
        row("vision", "V", qsTr("Vision"), ["#7B2458", "#C4679F", "#FF8CCB"],
            "cross", ["#FFFFFF", "#0B0F12", "#0B0F12"]),
        row("draft", "F", qsTr("Draft heads"), ["#C65F86", "#F0AECA", "#FFC9DF"],
            "dots", ["#0B0F12", "#0B0F12", "#0B0F12"]),
        row("kv", "K", qsTr("KV cache"), ["#6B4E00", "#B08A2E", "#E0B040"],
            "solid", ["#FFFFFF", "#0B0F12", "#0B0F12"]),
        row("scratch", "S", qsTr("Scratch"), ["#A97B14", "#E8CB7C", "#FFE59A"],
            "fall", ["#0B0F12", "#0B0F12", "#0B0F12"]),
        row("pinned", "P", qsTr("Pinned transfer"), ["#42505B", "#8695A1", "#A9BAC7"],
            "lines", ["#FFFFFF", "#0B0F12", "#0B0F12"]),
        row("engram_cache", "N", qsTr("Engram rows"), ["#5A8F2E", "#B4DD8A", "#CFFFA0"],
            "cross", ["#0B0F12", "#0B0F12", "#0B0F12"]),
        row("expert_cache", "E", qsTr("Experts"), ["#0B6A73", "#3F9EA7", "#3FD0DC"],
            "solid", ["#FFFFFF", "#0B0F12", "#0B0F12"]),
        row("checkpoints", "C", qsTr("Checkpoints"), ["#857A6C", "#CFC4B4", "#C2AE95"],
            "fall", ["#0B0F12", "#0B0F12", "#0B0F12"]),
        row("reserve", "R", qsTr("Reserve"), ["#525D66", "#7C8993", "#A9B4BC"],
            "rise", ["#FFFFFF", "#0B0F12", "#0B0F12"]),
        row("other", "O", qsTr("Other programs"), ["#7E8992", "#B9C3CA", "#E6ECF0"],
            "lines", ["#0B0F12", "#0B0F12", "#0B0F12"]),
        row("free", "–", qsTr("Free"), ["#ECEFF1", "#0D1113", "#000000"],
            "empty", ["#0B0F12", "#FFFFFF", "#FFFFFF"])
    ]

    // where an expert is
    readonly property var tiers: [
        row("vram", "V", qsTr("In VRAM"), ["#B3590A", "#F2A45C", "#FFB36B"],
            "notch", []),
        row("ram", "R", qsTr("In RAM"), ["#0B6A73", "#5CC1C9", "#5CF2FF"],
            "solid", []),
        row("disk", "D", qsTr("On disk"), ["#76828B", "#76828C", "#B8B8B8"],
            "hollow", [])
    ]

    // where the time of an answer went
    readonly property var timeSplit: [
        row("disk_wait", "D", qsTr("Waiting for drive"), ["#835300", "#E5B454", "#FFD24A"],
            "rise", ["#FFFFFF", "#0B0F12", "#0B0F12"]),
        row("expert", "E", qsTr("Experts"), ["#0B6A73", "#3F9EA7", "#3FD0DC"],
            "solid", ["#FFFFFF", "#0B0F12", "#0B0F12"]),
        row("attention", "A", qsTr("Attention"), ["#3A3F9E", "#8E97F0", "#A9B2FF"],
            "dots", ["#FFFFFF", "#0B0F12", "#0B0F12"]),
        row("dense", "W", qsTr("Dense weights"), ["#3E86C6", "#9CCBF2", "#BFE3FF"],
            "lines", ["#0B0F12", "#0B0F12", "#0B0F12"]),
        row("other", "O", qsTr("Other"), ["#66727B", "#B9C3CA", "#E6ECF0"],
            "cross", ["#FFFFFF", "#0B0F12", "#0B0F12"])
    ]

    // how a shard's cell is drawn stands in the guide, section 2.4
    readonly property var shardStates: [
        {key: "missing", mark: "", label: qsTr("Missing")},
        {key: "partial", mark: "", label: qsTr("Partial")},
        {key: "unverified", mark: "?", label: qsTr("Unverified")},
        {key: "verified", mark: "", label: qsTr("Verified")},
        {key: "broken", mark: "!", label: qsTr("Broken")}
    ]

    readonly property var heatStops: [0, 0.25, 0.5, 0.75, 1]
    readonly property var heatRam: [
        ["#CFE3E5", "#93C5CA", "#4E9FA7", "#1C757E", "#063E44"],
        ["#1D4247", "#2A676E", "#3F959D", "#6CC6CD", "#D2F4F6"],
        ["#004A50", "#008088", "#00B4BF", "#5CF2FF", "#E0FDFF"]
    ][themeIndex]
    readonly property var heatVram: [
        ["#F4D9BC", "#E8B27A", "#D18437", "#A9560C", "#6B3200"],
        ["#4A2D12", "#7A4A1C", "#B87631", "#F0A55E", "#FFE0BF"],
        ["#5A3000", "#9A5600", "#D98518", "#FFB36B", "#FFEBD6"]
    ][themeIndex]
    readonly property var heatDisk: [
        ["#EEF1F2", "#DDE2E5", "#C6CDD2", "#A9B3BA", "#8A959D"],
        ["#181D21", "#22292E", "#2F383E", "#434E55", "#5F6B74"],
        ["#000000", "#1C1C1C", "#383838", "#585858", "#808080"]
    ][themeIndex]
}
