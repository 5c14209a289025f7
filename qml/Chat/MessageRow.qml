import QtQuick
import Colibri.Chat
import Colibri.Ui

// One row of the chat: chooses what shows its kind and keeps it in the reading column.
Item {
    id: row

    required property int index
    required property string kind
    required property string markup
    required property string plain
    required property string language
    required property int level
    required property int listDepth
    required property string marker
    required property int quoteDepth
    required property var columns
    required property var cells
    required property bool live
    required property bool last
    required property bool opensMessage
    required property string preview
    required property int lineCount
    required property var facts

    required property ChatViewModel chat

    signal linkActivated(link: string)
    // ChatViewModel.Action
    signal remedyRequested(remedy: int)

    readonly property real gap: opensMessage ? (kind === "user" ? Theme.space.s5 : Theme.space.s4)
        : marker.length > 0 ? Theme.space.s1 : level > 0 ? Theme.space.s4 : Theme.space.s3

    implicitHeight: gap + content.implicitHeight

    Loader {
        id: content

        readonly property real indent: row.kind === "code" || row.kind === "table" ? row.listDepth * Theme.space.s5 : 0

        x: Math.round((row.width - column) / 2) + indent
        y: row.gap
        width: column - indent

        readonly property real column: Math.min(Theme.size.readingWidth, row.width - 2 * Theme.space.s5)

        sourceComponent: row.kind === "user" ? user : row.kind === "reasoning" ? reasoning
            : row.kind === "code" ? code : row.kind === "table" ? table : row.kind === "rule" ? rule
            : row.kind === "footer" ? footer : row.kind === "error" ? error : words
    }

    Component {
        id: user

        UserMessage {
            text: row.plain
        }
    }
    Component {
        id: reasoning

        ReasoningLine {
            thoughts: row.plain
            seconds: row.facts.seconds
            tokens: row.facts.tokens
            running: row.chat.inReasoning && row.last && row.chat.busy
        }
    }
    Component {
        id: words

        TextBlock {
            markup: row.markup
            level: row.level
            listDepth: row.listDepth
            marker: row.marker
            quoteDepth: row.quoteDepth
            live: row.live
            caret: row.live && row.last
            onLinkActivated: link => row.linkActivated(link)
        }
    }
    Component {
        id: code

        CodeBlock {
            code: row.plain
            preview: row.preview
            language: row.language
            lineCount: row.lineCount
            live: row.live
            onCopyRequested: text => row.chat.copyText(text)
        }
    }
    Component {
        id: table

        TableBlock {
            columns: row.columns
            cells: row.cells
            onLinkActivated: link => row.linkActivated(link)
        }
    }
    Component {
        id: rule

        Hairline {}
    }
    Component {
        id: footer

        AnswerFooter {
            facts: row.facts
            latest: row.last
            onCopyRequested: row.chat.copyText(row.chat.rows.sourceOf(row.index))
        }
    }
    Component {
        id: error

        FailureBanner {
            title: row.facts.title
            explanation: row.facts.text
            remedy: row.last ? row.facts.action : ChatViewModel.NoAction
            onRemedyRequested: remedy => row.remedyRequested(remedy)
        }
    }
}
