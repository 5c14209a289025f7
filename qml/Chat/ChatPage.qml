import QtQuick
import Colibri.Chat
import Colibri.Ui

// The chat: messages, the composer, and before a model is loaded, how to begin.
Item {
    id: page

    required property ChatViewModel chat

    // The user wants to pick a model's folder.
    signal openFolderRequested()

    readonly property bool begun: chat.hasMessages
    readonly property real column: Math.min(Theme.size.readingWidth, width - 2 * Theme.space.s5)

    function focusComposer() {
        composer.focusInput()
    }

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Chat")

    onVisibleChanged: if (visible) focusComposer()
    Component.onCompleted: focusComposer()

    Connections {
        target: page.chat

        function onConversationChanged() {
            messages.follows = true
            messages.stay()
            page.focusComposer()
        }

        // The button that loaded the model is gone with its card; what is typed next is the first question.
        function onModelChanged() {
            if (page.visible && page.chat.modelState === ChatViewModel.ModelReady && !page.chat.busy)
                page.focusComposer()
        }
    }

    Shortcut {
        sequences: [StandardKey.New]
        enabled: page.visible
        onActivated: page.chat.newChat()
    }
    Shortcut {
        sequence: "Escape"
        enabled: page.visible && page.chat.busy
        onActivated: page.chat.stop()
    }
    Shortcut {
        sequence: "PgUp"
        enabled: page.visible && page.begun
        onActivated: messages.page(-1)
    }
    Shortcut {
        sequence: "PgDown"
        enabled: page.visible && page.begun
        onActivated: messages.page(1)
    }

    ChatHeader {
        id: header
        width: page.width
        chat: page.chat
    }
    MessageList {
        id: messages
        objectName: "messages"
        anchors.top: header.bottom
        anchors.bottom: composer.top
        width: page.width
        visible: page.begun
        chat: page.chat
        onLinkActivated: link => links.ask(link)
        onRemedyRequested: remedy => {
            if (remedy === ChatViewModel.NewChat)
                page.chat.newChat()
            else if (remedy === ChatViewModel.OpenFolder)
                page.openFolderRequested()
            else
                page.chat.askAgain()
        }
    }
    Item {
        anchors.top: header.bottom
        anchors.bottom: composer.top
        width: page.width
        visible: !page.begun

        Loader {
            anchors.centerIn: parent
            width: page.column
            sourceComponent: page.chat.modelState === ChatViewModel.ModelReady ? ready
                : page.chat.modelState === ChatViewModel.LoadingModel ? loading : first
        }
    }
    Composer {
        id: composer
        x: Math.round((page.width - width) / 2)
        anchors.bottom: parent.bottom
        anchors.bottomMargin: Theme.space.s4
        width: page.column
        chat: page.chat
    }
    LinkDialog {
        id: links
        chat: page.chat
    }

    Component {
        id: first

        FirstRun {
            chat: page.chat
            onOpenFolderRequested: page.openFolderRequested()
        }
    }
    Component {
        id: loading

        LoadingCard {
            chat: page.chat
        }
    }
    Component {
        id: ready

        ReadyState {
            chat: page.chat
        }
    }
}
