import QtQuick
import QtQuick.Layouts
import Colibri.Models
import Colibri.Ui

// The model that is loaded or being loaded, with its facts.
Card {
    id: card

    required property ModelsViewModel models

    signal chatRequested()

    readonly property bool ready: models.modelState === ModelsViewModel.ModelReady
    readonly property bool loading: models.modelState === ModelsViewModel.LoadingModel

    contentItem: ColumnLayout {
        spacing: Theme.space.s2

        RowLayout {
            Label {
                Layout.fillWidth: true
                text: card.ready || card.loading ? card.models.modelName : qsTr("No model loaded")
                role: Theme.type.title
                elide: Text.ElideRight
            }
            Chip {
                visible: card.ready || card.loading
                kind: card.ready ? Chip.Ok : Chip.Accent
                iconName: card.ready ? "check" : ""
                text: card.ready ? qsTr("Ready") : qsTr("Loading")
            }
        }
        Label {
            Layout.fillWidth: true
            visible: !card.ready && !card.loading
            text: qsTr("Try the demo model, or open the folder of a DeepSeek V4 model.")
            color: Theme.text2
            wrapMode: Text.Wrap
        }
        ColumnLayout {
            visible: card.ready
            spacing: Theme.space.s1

            Fact {
                label: qsTr("Folder")
                value: card.models.modelFolder
            }
            Fact {
                label: qsTr("Layers and experts")
                value: card.models.modelGeometry
            }
            Fact {
                label: qsTr("Experts held in memory")
                value: qsTr("%1 of %2").arg(Format.count(card.models.expertsInMemory)).arg(Format.count(card.models.expertsInAll))
            }
            Fact {
                label: qsTr("Memory planned")
                value: Format.memoryOf(card.models.memoryUsed, card.models.memoryBudget)
            }
            Fact {
                label: qsTr("Context")
                value: Format.counted(card.models.contextTokens, qsTr("token"), qsTr("tokens"))
            }
            Fact {
                label: qsTr("Loaded in")
                value: Format.duration(card.models.loadSeconds)
            }
        }
        ColumnLayout {
            visible: card.loading
            spacing: Theme.space.s2

            Label {
                Layout.fillWidth: true
                text: card.models.totalBytes > 0
                    ? qsTr("Weights that every token needs: %1").arg(Format.sizeOf(card.models.loadedBytes, card.models.totalBytes))
                    : qsTr("Reading the headers")
                color: Theme.text2
                elide: Text.ElideRight
            }
            ProgressBar {
                Layout.fillWidth: true
                label: qsTr("Loading")
                value: card.models.totalBytes > 0 ? card.models.loadedBytes / card.models.totalBytes : 0
            }
        }
        Item {
            Layout.fillHeight: true
        }
        RowLayout {
            visible: card.ready || card.loading
            spacing: Theme.space.s2

            Button {
                objectName: "chatButton"
                visible: card.ready
                compact: true
                kind: card.models.checkState === ModelsViewModel.NothingChecked ? Button.Primary : Button.Normal
                iconName: "chat"
                text: qsTr("Chat")
                onClicked: card.chatRequested()
            }
            Button {
                objectName: "unloadButton"
                visible: card.ready
                compact: true
                text: qsTr("Unload")
                toolTip: qsTr("Frees the memory that the model holds")
                onClicked: card.models.unload()
            }
            Button {
                objectName: "cancelButton"
                visible: card.loading
                compact: true
                text: qsTr("Cancel")
                onClicked: card.models.cancelLoading()
            }
        }
    }
}
