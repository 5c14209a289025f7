import QtQuick
import QtTest
import Colibri.Ui

// Icons and patterns come in their colour and at device pixels.
Item {
    id: root
    width: 200
    height: 100

    Rectangle {
        anchors.fill: parent
        color: "#ffffff"
    }
    Icon { id: icon; name: "stop"; color: "#0b6a73"; size: 24 }
    Icon { id: none; name: "add"; x: 40; size: 16 }
    Pattern { id: lines; name: "lines"; color: "#000000"; x: 80; width: 40; height: 40 }
    Pattern { id: solid; name: "solid"; x: 140; width: 20; height: 20 }

    TestCase {
        name: "Icons"
        when: windowShown

        function test_iconHasItsColour() {
            compare(icon.status, Image.Ready)
            const picture = grabImage(icon)
            let coloured = 0
            for (let x = 0; x < 24; ++x) {
                for (let y = 0; y < 24; ++y)
                    coloured += picture.pixel(x, y) == "#0b6a73" ? 1 : 0
            }
            verify(coloured > 20, coloured + " pixels in the icon's colour")
            icon.color = "#b3261e"
            compare(icon.status, Image.Ready)
            verify(!grabImage(icon).equals(picture))
        }
        function test_unknownIconIsEmpty() {
            ignoreWarning(/no icon named other/)
            ignoreWarning(/Failed to get image/)
            none.name = "other"
            compare(none.status, Image.Error)
        }
        function test_patternIsTiled() {
            const picture = grabImage(lines)
            const dark = picture.pixel(10, 0)
            verify(dark != "#ffffff")
            for (let row = 0; row < 40; ++row)
                compare(picture.pixel(10, row), row % 4 === 0 ? dark : "#ffffff", "row " + row)
            verify(!solid.visible)
        }
        function test_theIconsTheAppNames() {
            for (const name of ["add", "attach", "bird", "branch", "chat", "check", "chevronDown", "chevronLeft", "chevronRight",
                "close", "continue", "copy", "drive", "edit", "error", "file", "folder", "info", "link", "memory", "minus",
                "models", "more", "pause", "play", "retry", "search", "send", "settings", "shield", "sidebar", "stop", "theme",
                "think", "tool", "trash", "warning"]) {
                icon.name = name
                compare(icon.status, Image.Ready, name)
            }
        }
    }
}
