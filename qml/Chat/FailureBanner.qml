import QtQuick
import Colibri.Chat
import Colibri.Ui

// What happened, why and what to do, with a button named after the deed.
Banner {
    id: banner

    required property string title
    property string explanation
    property int remedy: ChatViewModel.NoAction
    // ChatViewModel.Action of the button
    signal remedyRequested(remedy: int)

    kind: Banner.Error
    text: explanation.length > 0 ? title + " " + explanation : title
    actionText: remedy === ChatViewModel.Retry ? qsTr("Try again")
        : remedy === ChatViewModel.OpenFolder ? qsTr("Open another folder")
        : remedy === ChatViewModel.NewChat ? qsTr("New chat") : ""
    actionIcon: remedy === ChatViewModel.Retry ? "retry"
        : remedy === ChatViewModel.OpenFolder ? "folder" : remedy === ChatViewModel.NewChat ? "add" : ""
    onAction: remedyRequested(remedy)
}
