import QtQuick

// The colours of one theme: light, dark or highContrast. Values of the visual guide, section 2.1; tests/qml/Ui/tokens.json
// holds the same table and a test compares the two. The tokens onAccent and onAccentSoft are
// accentInk and accentSoftInk here: QML takes a name that begins with "on" for a signal handler.
QtObject {
    id: colors

    // "light", "dark" or "highContrast"
    property string variant: "light"

    function pick(light: color, dark: color, highContrast: color) : color {
        return variant === "light" ? light : variant === "dark" ? dark : highContrast
    }

    // page background
    readonly property color window: pick("#F4F6F7", "#121619", "#000000")
    // cards, dialogs, composer, assistant side
    readonly property color surface: pick("#FFFFFF", "#1A1F23", "#000000")
    // rail, status strip, code blocks, bar troughs
    readonly property color sunken: pick("#ECEFF1", "#0D1113", "#000000")
    // hovered row, ghost button, rail item
    readonly property color hover: pick("#E3E8EA", "#242B30", "#262626")
    // pressed row, ghost button
    readonly property color pressed: pick("#D5DCDF", "#2E373D", "#404040")
    // hairlines between surfaces; decorative in light and dark
    readonly property color border: pick("#D6DCE0", "#2D353B", "#FFFFFF")
    // edge of a field, switch, slider, check box (needs 3:1)
    readonly property color outline: pick("#76828B", "#76828C", "#FFFFFF")
    // body text, values
    readonly property color text: pick("#14191D", "#E8ECEE", "#FFFFFF")
    // labels, captions, hints
    readonly property color text2: pick("#4B565F", "#A9B3BA", "#FFFFFF")
    // disabled text (exempt from 4.5, still readable)
    readonly property color textDisabled: pick("#7F8A92", "#6F7A82", "#B8B8B8")
    // primary button, selection mark, links, progress
    readonly property color accent: pick("#0B6A73", "#5CC1C9", "#5CF2FF")
    // primary button hovered
    readonly property color accentHover: pick("#095A62", "#76CFD6", "#A5F8FF")
    // primary button pressed
    readonly property color accentPressed: pick("#074A51", "#8EDBE1", "#D0FBFF")
    // text and icons on accent
    readonly property color accentInk: pick("#FFFFFF", "#04272A", "#000000")
    // selected row, own message, chip
    readonly property color accentSoft: pick("#DCEEF0", "#15363A", "#003A40")
    // text on accentSoft
    readonly property color accentSoftInk: pick("#074850", "#A5E4E9", "#FFFFFF")
    // focus ring and map cursor; never anything else
    readonly property color focus: pick("#1B4FD1", "#9DB8FF", "#FFE600")
    // verified, ready, running
    readonly property color ok: pick("#1B7040", "#6CCB8F", "#7CF7A6")
    // background of an ok banner
    readonly property color okSoft: pick("#E1F2E8", "#15301F", "#000000")
    // attention, drive missing, paused by a limit
    readonly property color warn: pick("#835300", "#E5B454", "#FFD24A")
    // background of a warning banner
    readonly property color warnSoft: pick("#FBF0D9", "#352910", "#000000")
    // failed, broken, will not run
    readonly property color error: pick("#B3261E", "#FF8F86", "#FF9E94")
    // background of an error banner
    readonly property color errorSoft: pick("#FCE9E7", "#3B1B19", "#000000")
    // code: keyword
    readonly property color synKeyword: pick("#7A2E8E", "#D7A1E6", "#F0C0FF")
    // code: string
    readonly property color synString: pick("#1B6B3A", "#8FD3A8", "#9CFFC0")
    // code: number
    readonly property color synNumber: pick("#9A4A00", "#F0B27A", "#FFC48A")
    // code: comment
    readonly property color synComment: pick("#55606A", "#98A3AB", "#D0D0D0")
    // code: type, function
    readonly property color synType: pick("#0F5C8C", "#86C3EE", "#9BD8FF")
}
