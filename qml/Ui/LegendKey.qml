import QtQuick

// The letter of a part on its colour: what a legend shows. part is {letter, color, letterColor}.
Rectangle {
    id: key

    required property var part

    width: Theme.size.legendKey
    height: Theme.size.legendKey
    radius: Theme.radius.bar
    color: part.color

    Accessible.ignored: true

    Text {
        anchors.centerIn: parent
        text: key.part.letter
        textFormat: Text.PlainText
        font: Theme.type.captionStrong.font
        color: key.part.letterColor
    }
}
