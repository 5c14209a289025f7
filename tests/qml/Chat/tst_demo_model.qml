import QtQuick
import QtQuick.Controls.Basic
import QtTest
import Colibri.Chat

// The chat page over the real engine with the demo model.
Item {
    width: 1000
    height: 720

    ApplicationWindow {
        visible: true
        width: 1000
        height: 720

        ChatPage {
            id: page
            anchors.fill: parent
            chat: real.chat
        }
    }
    SignalSpy {
        id: answered
        target: real.chat
        signalName: "answered"
    }

    TestCase {
        name: "ChatPageWithDemoModel"
        when: windowShown

        function test_answersAQuestion() {
            mouseClick(findChild(page, "tryButton"))
            tryCompare(real.chat, "modelState", ChatViewModel.ModelReady, 30000)
            verify(real.chat.send("What is Colibri?"))
            tryCompare(answered, "count", 1, 60000)
            const rows = real.chat.rows
            verify(rows.count >= 3)
            verify(rows.sourceOf(rows.count - 1).includes("Colibri"))
            verify(real.status.tokensPerSecond > 0)
            verify(real.status.hitRate >= 0)
        }
    }
}
