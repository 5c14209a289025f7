import QtQuick
import Colibri.Ui

// A pattern over a coloured area, in the letter colour of the guide at 32 %: rise, fall, lines, cross, dots. Other names draw nothing.
Image {
    id: pattern

    required property string name
    property color color: Theme.text

    readonly property int tile: Pictures.tileSize(name)

    visible: tile > 0
    opacity: Theme.patternOpacity
    fillMode: Image.Tile
    horizontalAlignment: Image.AlignLeft
    verticalAlignment: Image.AlignTop
    sourceSize.width: tile
    sourceSize.height: tile
    source: Pictures.pattern(name, color)
    smooth: false
}
