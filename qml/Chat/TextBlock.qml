import QtQuick
import Colibri.Ui
import "markup.js" as Markup

// A paragraph, heading or list item. While it may still change it is a Text; finished, its text can be selected.
Item {
    id: block

    required property string markup
    required property int level
    required property int listDepth
    required property string marker
    required property int quoteDepth
    required property bool live
    // the block that is being written ends in a still mark
    required property bool caret

    signal linkActivated(link: string)

    readonly property TypeRole role: level > 2 ? Theme.type.strong : level > 0 ? Theme.type.title : Theme.type.prose
    readonly property color ink: quoteDepth > 0 ? Theme.text2 : Theme.text
    readonly property real indent: quoteDepth * Theme.space.s4 + listDepth * Theme.space.s5

    implicitHeight: Math.max(role.lineHeight, words.implicitHeight)

    Repeater {
        model: block.quoteDepth

        Rectangle {
            required property int index

            x: index * Theme.space.s4
            width: Theme.space.hair
            height: block.height
            color: Theme.outline
        }
    }
    Label {
        x: block.indent - Theme.space.s2 - width
        visible: block.marker.length > 0
        text: block.marker
        role: block.role
        color: Theme.text2
    }
    Loader {
        id: words
        x: block.indent
        width: block.width - x
        sourceComponent: block.live ? growing : finished
    }

    Component {
        id: growing

        Label {
            text: block.markup + (block.caret ? '<font color="' + Theme.accent + '">\u258D</font>' : "")
            textFormat: Text.StyledText
            role: block.role
            color: block.ink
            wrapMode: Text.Wrap
            onLinkActivated: link => block.linkActivated(link)
            Accessible.name: block.markup.replace(/<[^>]*>/g, "")
        }
    }
    Component {
        id: finished

        TextEdit {
            text: Markup.richText(block.markup, block.role.lineHeight, Theme.type.code.family,
                Math.round(block.role.size * 0.9), Theme.accent)
            textFormat: TextEdit.RichText
            font: block.role.font
            color: block.ink
            wrapMode: TextEdit.Wrap
            readOnly: true
            selectByMouse: true
            selectionColor: Theme.accent
            selectedTextColor: Theme.accentInk
            onLinkActivated: link => block.linkActivated(link)
            Accessible.role: block.level > 0 ? Accessible.Heading : Accessible.Paragraph
            Accessible.name: getText(0, length)

            HoverHandler {
                enabled: parent.hoveredLink.length > 0
                cursorShape: Qt.PointingHandCursor
            }
        }
    }
}
