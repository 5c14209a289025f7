import QtQuick
import QtQuick.Templates as T
import Colibri.Chat
import Colibri.Models
import Colibri.Shell
import Colibri.Ui

// The window: the shell and its pages.
T.ApplicationWindow {
    id: window

    required property ChatViewModel chat
    required property ModelsViewModel models
    required property QtObject status
    // Pictures and checks start from the defaults and leave no trace.
    required property bool persistent
    // "" follows what the user chose
    required property string startTheme
    property alias page: shell.page

    minimumWidth: Theme.size.minWindowW
    minimumHeight: Theme.size.minWindowH
    title: qsTr("Colibri")
    color: Theme.window

    Component.onCompleted: {
        shell.appearance.persistent = persistent
        if (startTheme.length > 0)
            shell.appearance.theme = startTheme
    }

    Shell {
        id: shell
        anchors.fill: parent
        status: window.status
        problemPage: "models"
        pages: [
            {key: "chat", title: qsTr("Chat"), icon: "chat"},
            {key: "models", title: qsTr("Models"), icon: "models"}
        ]

        ChatPage {
            id: chatPage
            anchors.fill: parent
            visible: shell.page === "chat"
            chat: window.chat
            onOpenFolderRequested: {
                shell.showPage("models")
                modelsPage.openFolder()
            }
        }
        ModelsPage {
            id: modelsPage
            anchors.fill: parent
            visible: shell.page === "models"
            models: window.models
            onChatRequested: shell.showPage("chat")
        }
    }
}
