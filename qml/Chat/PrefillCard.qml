import QtQuick
import QtQuick.Layouts
import Colibri.Chat
import Colibri.Ui

// Stands where the answer will be while the prompt is read.
Card {
    id: card

    required property ChatViewModel chat

    readonly property bool known: chat.promptTotal > 0

    contentItem: ColumnLayout {
        spacing: Theme.space.s2

        RowLayout {
            Label {
                Layout.fillWidth: true
                text: card.chat.phase === ChatViewModel.Stopping ? qsTr("Stopping") : qsTr("Reading the prompt")
                role: Theme.type.strong
            }
            Label {
                visible: card.chat.promptSecondsLeft > 0
                text: Format.timeLeft(card.chat.promptSecondsLeft)
                role: Theme.type.strong
            }
        }
        ProgressBar {
            Layout.fillWidth: true
            implicitHeight: Theme.size.splitBar
            label: qsTr("Reading the prompt")
            value: card.known ? card.chat.promptDone / card.chat.promptTotal : 0
        }
        RowLayout {
            spacing: Theme.space.s4

            Label {
                text: card.known
                    ? qsTr("%1 of %2 tokens").arg(Format.count(card.chat.promptDone)).arg(Format.count(card.chat.promptTotal))
                    : qsTr("Counting the tokens")
                role: Theme.type.caption
                color: Theme.text2
            }
            Label {
                text: qsTr("%1 so far").arg(Format.duration(card.chat.elapsedSeconds))
                role: Theme.type.caption
                color: Theme.text2
            }
        }
        Hairline {
            Layout.fillWidth: true
        }
        RowLayout {
            spacing: Theme.space.s4

            Label {
                Layout.fillWidth: true
                text: qsTr("The experts that are not in memory are read once for the whole prompt. Stopping keeps what was read so far for the next try.")
                role: Theme.type.caption
                color: Theme.text2
                wrapMode: Text.Wrap
            }
            Button {
                iconName: "stop"
                text: qsTr("Stop")
                enabled: card.chat.phase === ChatViewModel.Reading
                disabledReason: qsTr("It is being stopped")
                onClicked: card.chat.stop()
            }
        }
    }
}
