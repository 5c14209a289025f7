import QtQuick
import QtQuick.Layouts
import Colibri.Chat
import Colibri.Ui

// Title of the chat, the model that answers, how full its context is, and a new chat.
Item {
    id: header

    required property ChatViewModel chat

    readonly property bool ready: chat.modelState === ChatViewModel.ModelReady
    readonly property real share: chat.contextTokens > 0 ? chat.contextUsed / chat.contextTokens : 0

    implicitHeight: Theme.size.header

    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.space.s5
        anchors.rightMargin: Theme.space.s5
        spacing: Theme.space.s3

        Label {
            Layout.fillWidth: true
            text: header.chat.title
            role: Theme.type.title
            elide: Text.ElideRight
            Accessible.role: Accessible.Heading
        }
        Label {
            visible: header.ready
            text: header.chat.modelName
            role: Theme.type.strong
        }
        Label {
            visible: header.ready
            text: qsTr("Context")
            role: Theme.type.caption
            color: Theme.text2
        }
        Meter {
            visible: header.ready
            parts: [{
                share: header.share,
                color: header.share >= 1 ? Theme.error : header.share >= 0.9 ? Theme.warn : Theme.accent
            }]
        }
        Label {
            visible: header.ready
            text: qsTr("%1 of %2").arg(Format.count(header.chat.contextUsed)).arg(Format.count(header.chat.contextTokens))
            role: Theme.type.caption
        }
        IconButton {
            objectName: "newChatButton"
            outlined: true
            iconName: "add"
            text: qsTr("New chat (Ctrl+N)")
            onClicked: header.chat.newChat()
        }
    }
    Hairline {
        anchors.bottom: parent.bottom
        width: parent.width
    }
}
