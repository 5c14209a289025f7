import QtQuick
import QtQuick.Templates as T
import Colibri.Chat
import Colibri.Ui

// The chat's rows. It stays at the end while an answer grows, until the user scrolls up.
ListView {
    id: list

    required property ChatViewModel chat

    signal linkActivated(link: string)
    signal remedyRequested(remedy: int)

    property bool follows: true

    model: chat.rows
    clip: true
    boundsBehavior: Flickable.StopAtBounds
    cacheBuffer: Theme.size.minWindowH
    keyNavigationEnabled: false

    Accessible.role: Accessible.List
    Accessible.name: qsTr("Messages")

    function page(direction: int) {
        const most = Math.max(originY, originY + contentHeight - height)
        contentY = Math.min(most, Math.max(originY, contentY + direction * (height - Theme.space.s7)))
        follows = atYEnd
    }

    function stay() {
        if (!follows)
            return
        positionViewAtEnd()
        // Rows above are only estimated until they are laid out, which moves the origin after this.
        settling.restart()
    }

    Timer {
        id: settling
        interval: 0
        onTriggered: {
            if (list.follows && !list.atYEnd)
                list.positionViewAtEnd()
        }
    }

    onContentHeightChanged: stay()
    onOriginYChanged: stay()
    onHeightChanged: stay()
    onMovementEnded: follows = atYEnd
    onCountChanged: {
        if (count === 0)
            follows = true
    }

    T.ScrollBar.vertical: ScrollBar {
        onPressedChanged: list.follows = !pressed && list.atYEnd
    }

    delegate: MessageRow {
        width: list.width
        chat: list.chat
        onLinkActivated: link => list.linkActivated(link)
        onRemedyRequested: remedy => list.remedyRequested(remedy)
    }
    footer: Item {
        id: live

        readonly property real column: Math.min(Theme.size.readingWidth, width - 2 * Theme.space.s5)

        width: list.width
        height: stack.height + Theme.space.s4

        Column {
            id: stack
            x: Math.round((live.width - live.column) / 2)
            width: live.column
            topPadding: list.chat.busy ? Theme.space.s3 : 0

            PrefillCard {
                width: parent.width
                visible: list.chat.busy && list.chat.answerTokens === 0
                chat: list.chat
            }
            LiveLine {
                visible: list.chat.busy && list.chat.answerTokens > 0
                chat: list.chat
            }
        }
    }
}
