import QtQuick
import QtQuick.Layouts
import Colibri.Chat
import Colibri.Ui

// Nothing is loaded: the demo model is one click away, a folder of one's own two.
ColumnLayout {
    id: first

    required property ChatViewModel chat

    signal openFolderRequested()

    spacing: Theme.space.s4

    Label {
        Layout.fillWidth: true
        text: qsTr("Which model should answer?")
        role: Theme.type.display
        wrapMode: Text.Wrap
        Accessible.role: Accessible.Heading
    }
    Label {
        Layout.fillWidth: true
        text: qsTr("Colibri keeps what fits in memory and reads the rest from the drive while it answers.")
        color: Theme.text2
        wrapMode: Text.Wrap
    }
    FailureBanner {
        objectName: "modelFailure"
        Layout.fillWidth: true
        visible: first.chat.modelState === ChatViewModel.ModelFailed
        title: first.chat.modelFailureTitle
        explanation: first.chat.modelFailureText
        remedy: first.chat.modelFailureAction
        onRemedyRequested: remedy => {
            if (remedy === ChatViewModel.OpenFolder)
                first.openFolderRequested()
            else
                first.chat.retryModel()
        }
    }
    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.space.s3

        StartCard {
            title: qsTr("Demo model")
            facts: qsTr("Comes with the app, 10 MB")
            text: qsTr("Too small to be clever. It shows a real streamed answer with live figures, so you can see how the rest works.")
            actionName: "tryButton"
            actionText: qsTr("Try it now")
            actionIcon: "play"
            primary: true
            onAction: first.chat.tryDemo()
        }
        StartCard {
            title: qsTr("A model on your drive")
            facts: qsTr("DeepSeek V4 Flash, 160 GB and more")
            text: qsTr("Already have the files? They are used where they are; nothing is copied or converted.")
            actionName: "openFolderButton"
            actionText: qsTr("Open a folder")
            actionIcon: "folder"
            onAction: first.openFolderRequested()
        }
    }
    Row {
        spacing: Theme.space.s2

        Icon {
            name: "shield"
            color: Theme.text2
        }
        Label {
            text: qsTr("Nothing has been contacted and nothing is loaded yet.")
            role: Theme.type.caption
            color: Theme.text2
        }
    }
}
