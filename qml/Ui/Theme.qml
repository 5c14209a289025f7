pragma Singleton
import QtQuick
import Colibri.Ui

// Every colour, size, type role and time of the app. Nothing else in qml/ may hold such a value.
//   Theme.window, Theme.text …       colours          Theme.space.s4       gaps
//   Theme.type.body.font             type roles       Theme.size.control   sizes, grown with the text
//   Theme.radius.card                corners          Theme.motion.quick   times, 0 with reduced motion
//   Theme.tables.timeSplit           memory tags, tiers, parts of the time, heat ramps
// Writable: choice, textScale, reducedMotion. One per engine, GUI thread.
ThemeColors {
    id: theme

    // What the user picked: "system", "light", "dark" or "contrast".
    property string choice: "system"
    // Text size as a factor; values outside 0.8 to 2 are clamped.
    property real textScale: 1
    property bool reducedMotion: false

    readonly property real factor: Math.min(2, Math.max(0.8, textScale))
    readonly property bool dark: variant !== "light"

    variant: choice === "contrast" ? "highContrast"
        : choice === "dark" || choice === "light" ? choice
        : appearance.dark ? "dark" : "light"

    readonly property ThemeSizes size: ThemeSizes {
        factor: theme.factor
    }
    readonly property ThemeType type: ThemeType {
        factor: theme.factor
    }
    readonly property ThemeSpace space: ThemeSpace {}
    readonly property ThemeRadius radius: ThemeRadius {}
    readonly property ThemeMotion motion: ThemeMotion {
        reduced: theme.reducedMotion
    }
    readonly property ThemeTables tables: ThemeTables {
        variant: theme.variant
    }

    readonly property real scrimOpacity: variant === "light" ? 0.4 : variant === "dark" ? 0.6 : 0.8
    readonly property color scrim: Qt.rgba(0, 0, 0, scrimOpacity)
    readonly property real patternOpacity: 0.32
    // Chips, selected rows and own messages get an edge in high contrast, where their fills are nearly black.
    readonly property real softEdge: variant === "highContrast" ? 1 : 0

    // Width of the window in pixels at 100 % text: below the collapse sizes the rail and the chat list fold.
    function effectiveWidth(width: real) : real {
        return width / factor
    }

    // A size that no token names, grown with the text.
    function scaled(pixels: real) : real {
        return size.scaled(pixels)
    }

    readonly property SystemAppearance appearance: SystemAppearance {}
    readonly property list<FontLoader> fonts: [
        FontLoader { source: "qrc:/colibri/fonts/InterTabular-Regular.otf" },
        FontLoader { source: "qrc:/colibri/fonts/InterTabular-Medium.otf" },
        FontLoader { source: "qrc:/colibri/fonts/InterTabular-SemiBold.otf" },
        FontLoader { source: "qrc:/colibri/fonts/InterTabular-Bold.otf" },
        FontLoader { source: "qrc:/colibri/fonts/JetBrainsMono-Regular.ttf" }
    ]
}
