import QtQuick
import Colibri.Chat
import Colibri.Ui

// Figures of the answer that is being written.
Row {
    id: line

    required property ChatViewModel chat

    Label {
        visible: line.chat.tokensPerSecond > 0
        text: Format.speed(line.chat.tokensPerSecond) + " · "
        role: Theme.type.captionStrong
    }
    Label {
        text: qsTr("%1 so far").arg(Format.counted(line.chat.answerTokens, qsTr("token"), qsTr("tokens"))) + " · "
            + qsTr("first token after %1").arg(Format.duration(line.chat.firstTokenSeconds))
            + (line.chat.phase === ChatViewModel.Stopping ? " · " + qsTr("stopping") : "")
        role: Theme.type.caption
        color: Theme.text2
    }
}
