import QtQuick
import Colibri.Ui

// One icon of resources/icons in one colour; it stands on whole device pixels at every ratio.
Image {
    id: icon

    required property string name
    property color color: Theme.text
    property real size: Theme.size.iconSmall

    width: size
    height: size
    sourceSize.width: size
    sourceSize.height: size
    source: Pictures.icon(name, color)
    fillMode: Image.Pad
    smooth: false
}
