import QtQuick
import QtQuick.Layouts
import Colibri.Models
import Colibri.Ui

// What was found in a folder, in words: the verdict, facts, findings with what to do, and Load.
Card {
    id: card

    required property ModelsViewModel models

    readonly property bool checking: models.checkState === ModelsViewModel.Checking
    readonly property bool refused: models.checkState === ModelsViewModel.Refused
    readonly property bool remarks: models.checkState === ModelsViewModel.SoundWithRemarks

    function words(fact: var) : string {
        return fact.kind === "bytes" ? Format.size(fact.value)
            : fact.kind === "count" ? Format.count(fact.value)
            : fact.kind === "tokens" ? Format.counted(fact.value, qsTr("token"), qsTr("tokens")) : fact.value
    }

    contentItem: ColumnLayout {
        spacing: Theme.space.s3

        RowLayout {
            spacing: Theme.space.s2

            Label {
                Layout.fillWidth: true
                text: card.models.folderName
                role: Theme.type.title
                elide: Text.ElideMiddle
            }
            Chip {
                objectName: "verdictChip"
                kind: card.checking ? Chip.Accent : card.refused ? Chip.Error : card.remarks ? Chip.Warn : Chip.Ok
                iconName: card.checking ? "" : card.refused ? "error" : card.remarks ? "warning" : "check"
                text: card.checking ? qsTr("Checking") : card.refused ? qsTr("Cannot be loaded")
                    : card.remarks ? qsTr("Remarks") : qsTr("Complete")
            }
        }
        Label {
            Layout.fillWidth: true
            text: card.models.folder
            role: Theme.type.code
            color: Theme.text2
            elide: Text.ElideMiddle
        }
        Label {
            objectName: "verdict"
            Layout.fillWidth: true
            text: card.models.verdict + (card.models.explanation.length > 0 ? " " + card.models.explanation : "")
            wrapMode: Text.Wrap
        }
        ColumnLayout {
            Layout.fillWidth: true
            visible: card.models.facts.length > 0
            spacing: Theme.space.s1

            Repeater {
                model: card.models.facts

                Fact {
                    required property var modelData

                    label: modelData.label
                    value: card.words(modelData)
                }
            }
        }
        Repeater {
            model: card.models.findings

            RowLayout {
                id: finding

                required property var modelData

                Layout.fillWidth: true
                spacing: Theme.space.s2

                Icon {
                    Layout.alignment: Qt.AlignTop
                    name: finding.modelData.isError ? "error" : "warning"
                    color: finding.modelData.isError ? Theme.error : Theme.warn
                }
                Label {
                    Layout.fillWidth: true
                    text: finding.modelData.message + (finding.modelData.fix.length > 0 ? " " + finding.modelData.fix : "")
                    role: Theme.type.small
                    wrapMode: Text.Wrap
                }
            }
        }
        Label {
            visible: card.models.moreFindings > 0
            text: qsTr("and %1 more; `coli verify` lists them all").arg(Format.count(card.models.moreFindings))
            role: Theme.type.small
            color: Theme.text2
        }
        RowLayout {
            spacing: Theme.space.s2

            Button {
                objectName: "loadButton"
                visible: !card.checking && !card.refused
                compact: true
                kind: Button.Primary
                text: qsTr("Load")
                enabled: card.models.modelState !== ModelsViewModel.LoadingModel
                disabledReason: qsTr("A model is being loaded")
                onClicked: card.models.loadChecked()
            }
            Button {
                objectName: "checkAgainButton"
                visible: card.refused
                compact: true
                iconName: "retry"
                text: qsTr("Look again")
                onClicked: card.models.checkAgain()
            }
            Button {
                objectName: "dismissButton"
                compact: true
                kind: Button.Quiet
                text: card.checking ? qsTr("Cancel") : qsTr("Close")
                onClicked: card.models.dismiss()
            }
        }
    }
}
