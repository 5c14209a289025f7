import QtQuick
import QtTest
import Colibri.Ui

// Theme.qml holds the values of tokens.json, in the three themes.
TestCase {
    id: suite
    name: "Theme"

    readonly property var tokens: JSON.parse(tokensJson)
    readonly property var themes: [{choice: "light", key: "light"}, {choice: "dark", key: "dark"}, {choice: "contrast", key: "highContrast"}]
    // QML takes names that begin with "on" for signal handlers.
    readonly property var renamed: ({onAccent: "accentInk", onAccentSoft: "accentSoftInk"})

    function init() {
        Theme.choice = "light"
        Theme.textScale = 1
        Theme.reducedMotion = false
    }
    function cleanup() {
        init()
    }
    function hex(colour) {
        return String(colour).toUpperCase()
    }

    function test_colours() {
        compare(Object.keys(tokens.color).length, 28)
        for (const theme of themes) {
            Theme.choice = theme.choice
            compare(Theme.variant, theme.key)
            for (const name in tokens.color) {
                const own = Theme[renamed[name] || name]
                verify(own !== undefined, "no colour " + name)
                compare(hex(own), tokens.color[name][theme.key], name + " in " + theme.key)
            }
            compare(Theme.scrimOpacity, tokens.opacity.scrim[theme.key])
        }
        compare(Theme.patternOpacity, tokens.opacity.pattern)
    }
    function compareRows(rows, table, theme, label) {
        compare(rows.map(row => row.key), Object.keys(table), label)
        for (const row of rows) {
            const token = table[row.key]
            compare(row.letter, token.letter, row.key)
            compare(row.label, token.label, row.key)
            compare(hex(row.color), token[theme], row.key + " in " + theme)
            compare(row.pattern, token.pattern, row.key)
            compare(row.letterColor, token.letterColor ? token.letterColor[theme] : "", row.key)
        }
    }
    function test_tables() {
        for (const theme of themes) {
            Theme.choice = theme.choice
            compareRows(Theme.tables.memoryTags, tokens.memoryTag, theme.key, "memory tags")
            compareRows(Theme.tables.tiers, tokens.tier, theme.key, "tiers")
            compareRows(Theme.tables.timeSplit, tokens.timeSplit, theme.key, "time")
            compare(Theme.tables.heatRam, tokens.heatRamp[theme.key].ram)
            compare(Theme.tables.heatVram, tokens.heatRamp[theme.key].vram)
            compare(Theme.tables.heatDisk, tokens.heatRamp[theme.key].disk)
        }
        compare(Theme.tables.memoryTags.map(row => tokens.memoryTag[row.key].order), [...Array(13).keys()])
        compare(Theme.tables.heatStops, tokens.heatRamp.stops)
        for (const state of Theme.tables.shardStates) {
            compare(state.mark, tokens.shardState[state.key].mark)
            compare(state.label, tokens.shardState[state.key].label)
        }
        compare(Theme.tables.shardStates.length, Object.keys(tokens.shardState).length)
    }
    function test_type() {
        for (const name in tokens.type) {
            const role = Theme.type[name]
            verify(role, "no role " + name)
            compare(role.font.pixelSize, tokens.type[name].size, name)
            compare(role.lineHeight, tokens.type[name].lineHeight, name)
            compare(role.font.weight, tokens.type[name].weight, name)
            compare(role.font.family, tokens.type[name].family === "Inter" ? "Inter Tabular" : tokens.type[name].family, name)
        }
        verify(!Theme.type.code.font.preferShaping)
    }
    function test_numbers() {
        for (const group of ["space", "radius", "size"]) {
            for (const name in tokens[group])
                compare(Theme[group][name], tokens[group][name], group + "." + name)
        }
        for (const name in tokens.motion) {
            if (name === "easing")
                compare(Theme.motion.easing, Easing[tokens.motion.easing])
            else if (name !== "reducedMotion")
                compare(Theme.motion[name], tokens.motion[name], name)
        }
    }
    function test_reducedMotion() {
        Theme.reducedMotion = true
        compare([Theme.motion.quick, Theme.motion.normal, Theme.motion.slow], [0, 0, 0])
        compare(Theme.motion.toastStay, tokens.motion.toastStay)
    }
    function test_textScale() {
        Theme.textScale = 1.4
        compare(Theme.size.control, 45)
        compare(Theme.size.railCollapsed, 64)
        compare(Theme.type.prose.font.pixelSize, 21)
        compare(Theme.space.s4, 16)
        compare(Theme.effectiveWidth(1400), 1000)
        Theme.textScale = 5
        compare(Theme.factor, 2)
        Theme.textScale = 0.1
        compare(Theme.factor, 0.8)
    }
    function test_system() {
        Theme.choice = "system"
        compare(Theme.variant, Theme.appearance.dark ? "dark" : "light")
    }
    function test_fontsAreBundled() {
        compare(Theme.fonts.length, 5)
        for (let index = 0; index < Theme.fonts.length; ++index)
            compare(Theme.fonts[index].status, FontLoader.Ready, String(Theme.fonts[index].source))
        for (const figure of "0123456789") {
            metrics.text = figure
            compare(metrics.advanceWidth, zero.advanceWidth, "figure " + figure + " is as wide as 0")
        }
    }
    // Ratios of the pairs that may occur, from our own colours by the WCAG formula.
    function luminance(colour) {
        const linear = v => v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4)
        return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)
    }
    function test_contrast() {
        for (const theme of themes) {
            Theme.choice = theme.choice
            for (const pair of tokens.contrast) {
                const front = luminance(Theme[renamed[pair.foreground] || pair.foreground])
                const back = luminance(Theme[pair.background])
                const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05)
                const words = pair.foreground + " on " + pair.background + " in " + theme.key
                verify(ratio >= pair.minimum, words + " has " + ratio)
                verify(Math.abs(ratio - pair[theme.key]) < 0.01, words + ": " + ratio + " is not the published " + pair[theme.key])
            }
        }
    }
    TextMetrics {
        id: zero
        font: Theme.type.figure.font
        text: "0"
    }
    TextMetrics {
        id: metrics
        font: Theme.type.figure.font
    }
}
