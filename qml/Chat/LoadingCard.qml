import QtQuick
import QtQuick.Layouts
import Colibri.Chat
import Colibri.Ui

// A model is being loaded: which, how far, how to stop.
Card {
    id: card

    required property ChatViewModel chat

    readonly property bool known: chat.totalBytes > 0

    contentItem: ColumnLayout {
        spacing: Theme.space.s2

        Label {
            Layout.fillWidth: true
            text: qsTr("Loading %1").arg(card.chat.modelName)
            role: Theme.type.title
            elide: Text.ElideRight
        }
        Label {
            Layout.fillWidth: true
            text: card.known
                ? qsTr("Weights that every token needs: %1").arg(Format.sizeOf(card.chat.loadedBytes, card.chat.totalBytes))
                : qsTr("Reading the headers")
            color: Theme.text2
            elide: Text.ElideRight
        }
        ProgressBar {
            Layout.fillWidth: true
            label: qsTr("Loading")
            value: card.known ? card.chat.loadedBytes / card.chat.totalBytes : 0
        }
        Button {
            compact: true
            text: qsTr("Cancel")
            onClicked: card.chat.cancelLoading()
        }
    }
}
