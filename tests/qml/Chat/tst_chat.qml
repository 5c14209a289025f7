import QtQuick
import QtTest
import Colibri.Chat
import Colibri.Ui

// The chat page over the fake engine: what a user does and sees.
Item {
    id: root
    width: 1000
    height: 720

    // Keys go to the window of the test case, so the page lies in it.
    ChatPage {
        id: page
        anchors.fill: parent
        chat: fake.chat
    }
    SignalSpy {
        id: folderSpy
        target: page
        signalName: "openFolderRequested"
    }
    SignalSpy {
        id: answered
        target: fake.chat
        signalName: "answered"
    }

    TestCase {
        id: test
        name: "ChatPage"
        when: windowShown

        function init() {
            fake.reset()
            tryCompare(fake.chat, "modelState", ChatViewModel.NoModel)
            answered.clear()
            folderSpy.clear()
            input().clear()
        }

        function input() {
            return findChild(page, "composerInput")
        }

        function item(name) {
            let found = null
            tryVerify(() => (found = findChild(page, name)) !== null && found.visible, 2000, name)
            return found
        }

        // By keyboard: a click goes to where the last frame drew the button, and a busy machine may not have drawn it yet.
        function press(name) {
            const button = item(name)
            tryVerify(() => button.visible && button.enabled, 5000, name)
            button.forceActiveFocus()
            keyClick(Qt.Key_Space)
        }

        function loadDemo() {
            press("tryButton")
            tryCompare(fake.chat, "modelState", ChatViewModel.ModelReady)
        }

        function write(text) {
            input().forceActiveFocus()
            input().text = text
        }

        function send(text) {
            write(text)
            keyClick(Qt.Key_Return)
        }

        // All words that the page shows.
        function words(from) {
            let all = ""
            const walk = one => {
                if (!one.visible)
                    return
                if (typeof one.text === "string")
                    all += (typeof one.getText === "function" ? one.getText(0, one.length) : one.text) + "\n"
                for (let i = 0; i < one.children.length; ++i)
                    walk(one.children[i])
            }
            walk(from || page)
            return all.replace(/\u00a0/g, " ")
        }

        function test_firstRun() {
            verify(words().includes("Which model should answer?"))
            verify(!item("sendButton").enabled)
            press("openFolderButton")
            compare(folderSpy.count, 1)
        }

        function test_typingAfterLoadingGoesToTheComposer() {
            loadDemo()
            tryCompare(input(), "activeFocus", true)
            keyClick("h")
            compare(input().text, "h")
        }

        function test_demoSuggestsAQuestion() {
            loadDemo()
            press("suggestion0")
            tryCompare(answered, "count", 1)
            tryVerify(() => words().includes("Hello from the fake."))
            verify(words().includes("ended by itself"))
            verify(words().includes("4.0 tokens/s"))
            verify(fake.lastPrompt.includes("What can you do?"))
        }

        function test_enterSendsAndShiftEnterBreaks() {
            loadDemo()
            write("one")
            keyClick(Qt.Key_End)
            keyClick(Qt.Key_Return, Qt.ShiftModifier)
            compare(input().text, "one\n")
            compare(fake.chat.hasMessages, false)
            keyClick(Qt.Key_Return)
            compare(input().text, "")
            tryCompare(answered, "count", 1)
            compare(fake.chat.title, "one")
        }

        function test_blankIsNotSent() {
            loadDemo()
            send("   ")
            compare(fake.chat.hasMessages, false)
        }

        function test_escapeStopsAndKeeps() {
            loadDemo()
            fake.stallAt(2)
            send("Hello")
            tryVerify(() => words().includes("Hello from"))
            verify(item("stopButton").enabled)
            keyClick(Qt.Key_Escape)
            tryCompare(answered, "count", 1)
            compare(fake.chat.busy, false)
            tryVerify(() => words().includes("stopped by you"))
            verify(words().includes("Hello from"))
            // and the next answer is asked for with what was kept
            fake.stallAt(99)
            send("Go on")
            tryCompare(answered, "count", 2)
            verify(fake.lastPrompt.includes("Hello from"))
        }

        function test_readingIsShown() {
            loadDemo()
            fake.stallAt(0)
            send("A long text")
            tryVerify(() => words().includes("Reading the prompt") && words().includes("about 25 s left"))
            mouseClick(item("stopButton"))
            tryCompare(answered, "count", 1)
        }

        function test_newChatForgets() {
            loadDemo()
            send("Hello")
            tryCompare(answered, "count", 1)
            keyClick(Qt.Key_N, Qt.ControlModifier)
            compare(fake.chat.hasMessages, false)
            tryVerify(() => words().includes("is ready"))
        }

        function test_newChatWhileAnswering() {
            loadDemo()
            fake.stallAt(1)
            send("Hello")
            tryCompare(fake.chat, "phase", ChatViewModel.Answering)
            mouseClick(item("newChatButton"))
            compare(fake.chat.busy, false)
            compare(fake.chat.rows.count, 0)
            fake.stallAt(99)
            send("Again")
            tryCompare(answered, "count", 2)
            compare(fake.chat.rows.count, 3)
        }

        function test_brokenAnswerSaysWhy() {
            loadDemo()
            fake.failAt(2)
            send("Hello")
            tryCompare(answered, "count", 1)
            tryVerify(() => words().includes("Reading from the drive failed. A read of shard 17 failed") && words().includes("What was written so far is kept."))
            verify(words().includes("Try again"))
            fake.failAt(99)
            fake.chat.askAgain()
            tryCompare(answered, "count", 2)
            tryVerify(() => words().includes("Hello from the fake."))
            verify(!words().includes("shard 17"))
        }

        function test_modelThatDoesNotLoad() {
            fake.refuseToLoad("It needs 4.2 GiB more memory than is free. Close other programs.")
            press("tryButton")
            tryCompare(fake.chat, "modelState", ChatViewModel.ModelFailed)
            tryVerify(() => words().includes("4.2 GiB more memory"))
            verify(words().includes("The model does not fit into the free memory."))
            verify(words().includes("Try again"))
        }

        function test_loadingCanBeCancelled() {
            fake.hangWhileLoading()
            press("tryButton")
            tryVerify(() => words().includes("Loading Demo model"))
            fake.chat.cancelLoading()
            tryCompare(fake.chat, "modelState", ChatViewModel.NoModel)
        }

        function test_reasoningIsFolded() {
            loadDemo()
            mouseClick(item("thinkingButton"))
            fake.chat.thinking = true
            keyClick(Qt.Key_Escape)
            fake.answerWith(["Let me ", "think.", "</think>", "Done."])
            send("Why?")
            tryCompare(answered, "count", 1)
            tryVerify(() => words().includes("Reasoned for") && words().includes("Done."))
            verify(!words().includes("Let me think."))
        }

        function test_markdownIsShown() {
            loadDemo()
            fake.answerWith(["# Title\n\nSome **bold** <b>text</b>\n\n- one\n- two\n\n", "```cpp\nint x;\n```\n\n",
                             "| a | b |\n|---|---|\n| 1 | 2 |\n"])
            send("Show me")
            tryCompare(answered, "count", 1)
            tryVerify(() => words().includes("int x;"))
            verify(words().includes("Some bold <b>text</b>"))
            verify(words().includes("C++"))
            compare(fake.chat.rows.count, 8)
        }

        function test_linkShowsItsAddressFirst() {
            loadDemo()
            fake.answerWith(["[click](https://example.org/path)"])
            send("Link?")
            tryCompare(answered, "count", 1)
            findChild(page, "messages").linkActivated("javascript:alert(1)")
            const dialog = findChild(page, "linkDialog")
            compare(dialog.opened, false)
            findChild(page, "messages").linkActivated("https://example.org/path")
            tryCompare(dialog, "opened", true)
            compare(dialog.address, "https://example.org/path")
            keyClick(Qt.Key_Escape)
            tryCompare(dialog, "opened", false)
        }

        function test_followsTheEnd() {
            loadDemo()
            const pieces = []
            for (let i = 0; i < 80; ++i)
                pieces.push("Paragraph " + i + ".\n\n")
            fake.answerWith(pieces, 2)
            send("Much")
            tryCompare(answered, "count", 1, 10000)
            const list = findChild(page, "messages")
            tryVerify(() => list.contentHeight > 2 * list.height)
            tryVerify(() => list.atYEnd)
            verify(words(list).includes("Paragraph 79."))
        }

        function test_copyTheAnswer() {
            loadDemo()
            send("Hello")
            tryCompare(answered, "count", 1)
            fake.chat.copyText(fake.chat.rows.sourceOf(1))
            compare(fake.clipboardText(), "Hello from the fake.")
        }
    }
}
