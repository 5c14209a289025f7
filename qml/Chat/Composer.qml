import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Colibri.Chat
import Colibri.Ui

// Where a message is written. Enter sends, Shift+Enter starts a line; while answering, Stop stands in Send's place.
Rectangle {
    id: composer

    required property ChatViewModel chat

    readonly property bool ready: chat.modelState === ChatViewModel.ModelReady
    readonly property bool blank: input.text.trim().length === 0
    readonly property string whyNot: !ready ? qsTr("Load a model first") : blank ? qsTr("Write a message first") : ""

    implicitHeight: field.height + tools.implicitHeight + Theme.space.s2 + 2 * Theme.space.s3
    radius: Theme.radius.card
    color: Theme.surface
    border.width: Theme.size.hairline
    border.color: input.activeFocus ? Theme.accent : Theme.outline

    function focusInput() {
        input.forceActiveFocus(Qt.OtherFocusReason)
    }

    function send() {
        if (chat.send(input.text))
            input.clear()
    }

    Flickable {
        id: field
        x: Theme.space.s3
        y: Theme.space.s3
        width: composer.width - 2 * x
        height: Math.min(input.implicitHeight, 8 * input.role.lineHeight)
        contentWidth: width
        contentHeight: input.implicitHeight
        boundsBehavior: Flickable.StopAtBounds
        clip: true

        T.ScrollBar.vertical: ScrollBar {}

        // Keeps the line that is written in view.
        function reveal() {
            const at = input.cursorRectangle
            if (contentY > at.y)
                contentY = at.y
            else if (contentY + height < at.y + at.height)
                contentY = at.y + at.height - height
        }

        TextArea {
            id: input
            objectName: "composerInput"
            width: field.width
            framed: false
            role: Theme.type.prose
            label: qsTr("Message")
            placeholderText: composer.ready ? qsTr("Write a message") : qsTr("Write a message; it can be sent when a model is loaded")
            onCursorRectangleChanged: field.reveal()

            Keys.onPressed: event => {
                const isReturn = event.key === Qt.Key_Return || event.key === Qt.Key_Enter
                if (!isReturn || event.modifiers & Qt.ShiftModifier || input.preeditText.length > 0)
                    return
                event.accepted = true
                if (!composer.chat.busy)
                    composer.send()
            }
        }
    }
    RowLayout {
        id: tools
        x: Theme.space.s2
        anchors.bottom: parent.bottom
        anchors.bottomMargin: Theme.space.s2
        width: composer.width - 2 * x
        spacing: Theme.space.s2

        Button {
            id: thinking
            objectName: "thinkingButton"
            kind: Button.Quiet
            iconName: "think"
            trailingIcon: "chevronDown"
            text: composer.chat.thinking ? qsTr("Reasoning: On") : qsTr("Reasoning: Off")
            toolTip: qsTr("Whether the model reasons before it answers")
            onClicked: choices.openAt(thinking)

            Menu {
                id: choices

                MenuItem {
                    text: qsTr("Off, answers sooner")
                    checkable: true
                    checked: !composer.chat.thinking
                    onTriggered: composer.chat.thinking = false
                }
                MenuItem {
                    text: qsTr("On, reasons first")
                    checkable: true
                    checked: composer.chat.thinking
                    onTriggered: composer.chat.thinking = true
                }
            }
        }
        Label {
            Layout.fillWidth: true
            horizontalAlignment: Text.AlignRight
            visible: text.length > 0
            text: composer.chat.busy && !composer.blank ? qsTr("Sending waits for this answer") : ""
            role: Theme.type.caption
            color: Theme.text2
            elide: Text.ElideRight
        }
        Item {
            Layout.fillWidth: true
            visible: !composer.chat.busy || composer.blank
        }
        Button {
            objectName: "stopButton"
            visible: composer.chat.busy
            iconName: "stop"
            text: composer.chat.phase === ChatViewModel.Stopping ? qsTr("Stopping") : qsTr("Stop")
            toolTip: qsTr("Stop and keep what is written (Esc)")
            enabled: composer.chat.phase !== ChatViewModel.Stopping
            disabledReason: qsTr("It is being stopped")
            onClicked: composer.chat.stop()
        }
        Button {
            objectName: "sendButton"
            visible: !composer.chat.busy
            kind: Button.Primary
            iconName: "send"
            text: qsTr("Send")
            toolTip: qsTr("Send (Enter); Shift+Enter starts a line")
            enabled: composer.ready && !composer.blank
            disabledReason: composer.whyNot
            onClicked: composer.send()
        }
    }
}
