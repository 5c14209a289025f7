import QtQuick
import Colibri.Chat
import Colibri.Ui

// A model is loaded and nothing has been asked: a first question is one click away.
Column {
    id: ready

    required property ChatViewModel chat

    spacing: Theme.space.s3

    Label {
        anchors.horizontalCenter: parent.horizontalCenter
        text: qsTr("%1 is ready").arg(ready.chat.modelName)
        role: Theme.type.strong
    }
    Label {
        width: parent.width
        text: ready.chat.suggestions.length > 0
            ? qsTr("It knows a little about Colibri. Ask one of these, or write your own question.")
            : qsTr("The first answer is the slowest: the experts that it needs are read from the drive.")
        role: Theme.type.small
        color: Theme.text2
        horizontalAlignment: Text.AlignHCenter
        wrapMode: Text.Wrap
    }
    Row {
        anchors.horizontalCenter: parent.horizontalCenter
        spacing: Theme.space.s2

        Repeater {
            model: ready.chat.suggestions

            Button {
                required property string modelData
                required property int index

                objectName: "suggestion" + index
                text: modelData
                onClicked: ready.chat.send(modelData)
            }
        }
    }
}
