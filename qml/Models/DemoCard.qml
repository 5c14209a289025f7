import QtQuick
import QtQuick.Layouts
import Colibri.Models
import Colibri.Ui

// The model that comes with the app.
Card {
    id: card

    required property ModelsViewModel models

    signal chatRequested()

    readonly property bool running: models.isDemo && models.modelState === ModelsViewModel.ModelReady

    contentItem: ColumnLayout {
        spacing: Theme.space.s2

        Label {
            Layout.fillWidth: true
            text: qsTr("Demo model")
            role: Theme.type.title
            elide: Text.ElideRight
        }
        Label {
            Layout.fillWidth: true
            text: qsTr("Comes with the app, 10 MB")
            role: Theme.type.small
            color: Theme.text2
        }
        Label {
            Layout.fillWidth: true
            text: qsTr("Too small to be clever. It shows a real streamed answer with live figures, so you can see how the rest works.")
            role: Theme.type.small
            color: Theme.text2
            wrapMode: Text.Wrap
        }
        Item {
            Layout.fillHeight: true
        }
        Button {
            objectName: "tryButton"
            compact: true
            iconName: card.running ? "chat" : "play"
            text: card.running ? qsTr("Chat with it") : qsTr("Try it now")
            enabled: card.models.modelState !== ModelsViewModel.LoadingModel
            disabledReason: qsTr("Another model is being loaded")
            onClicked: {
                if (!card.running)
                    card.models.tryDemo()
                card.chatRequested()
            }
        }
    }
}
