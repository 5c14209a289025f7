import QtQuick

// A word with a ground, of five kinds. Never clickable.
Rectangle {
    id: chip

    enum Kind { Neutral, Accent, Ok, Warn, Error }

    required property string text
    property int kind: Chip.Neutral
    property string iconName

    readonly property color foreground: [Theme.text, Theme.accentSoftInk, Theme.ok, Theme.warn, Theme.error][kind]

    implicitWidth: Math.ceil(word.implicitWidth) + word.x + 2 * Theme.space.s2
    implicitHeight: Theme.size.chip
    radius: Theme.radius.control
    color: [Theme.hover, Theme.accentSoft, Theme.okSoft, Theme.warnSoft, Theme.errorSoft][kind]
    border.width: Theme.softEdge
    border.color: foreground

    Accessible.role: Accessible.StaticText
    Accessible.name: text

    Row {
        id: content
        anchors.verticalCenter: parent.verticalCenter
        x: Theme.space.s2
        spacing: Theme.space.inner

        Icon {
            anchors.verticalCenter: parent.verticalCenter
            name: chip.iconName
            visible: name.length > 0
            size: Theme.size.iconChip
            color: chip.foreground
        }
        Text {
            id: word
            anchors.verticalCenter: parent.verticalCenter
            width: Math.min(implicitWidth, Math.max(0, chip.width - x - 2 * Theme.space.s2))
            text: chip.text
            textFormat: Text.PlainText
            font: Theme.type.caption.font
            color: chip.foreground
            elide: Text.ElideRight
        }
    }
    HoverHandler {
        id: pointer
        enabled: word.truncated
    }
    HoverTip {
        shown: pointer.hovered
        text: word.truncated ? chip.text : ""
    }
}
