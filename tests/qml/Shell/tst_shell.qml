import QtQuick
import QtTest
import Colibri.Shell
import Colibri.Ui
import "../Ui/walk.js" as Walk

// Rail, strip, appearance, toast area, keyboard.
Item {
    id: root
    width: 1280
    height: 800

    QtObject {
        id: status
        property string modelName
        property string state: "none"
        property string stateText
        property real hitRate: NaN
        property real bytesPerSecond: NaN
        property real ceilingBytesPerSecond: NaN
        property real tokensPerSecond: NaN
        property real memoryBytes: 0.2 * 1073741824
        property real memoryBudgetBytes: 54 * 1073741824
    }
    Shell {
        id: shell
        width: 1280
        height: 800
        status: status
        pages: [{key: "chat", title: "Chat", icon: "chat"}, {key: "models", title: "Models", icon: "models", badge: "61\u00a0%"}]

        Item {
            id: page
            anchors.fill: parent
        }
    }

    TestCase {
        name: "Shell"
        when: windowShown

        function init() {
            shell.width = 1280
            shell.page = "chat"
            shell.appearance.theme = "light"
            shell.appearance.textScale = 1
            shell.appearance.reducedMotion = true
            Object.assign(status, {modelName: "", state: "none", stateText: "", hitRate: NaN, bytesPerSecond: NaN,
                ceilingBytesPerSecond: NaN, tokensPerSecond: NaN, memoryBytes: 0.2 * 1073741824})
        }
        function answering() {
            Object.assign(status, {modelName: "V4.1 Flash", state: "working", stateText: "Answering", hitRate: 0.62,
                bytesPerSecond: 4.1e9, ceilingBytesPerSecond: 6.8e9, tokensPerSecond: 2.4, memoryBytes: 53.1 * 1073741824})
        }
        function find(name) {
            return findChild(shell, name)
        }
        function strip() {
            return find("statusStrip")
        }

        function test_geometry() {
            compare(find("rail").width, 176)
            compare(strip().height, 30)
            compare(find("rail-chat").height, 36)
            compare(page.width, 1280 - 176)
            compare(page.height, 800 - 30)
        }
        function test_railCollapses() {
            shell.width = 1099
            compare(find("rail").width, 56)
            verify(find("rail-chat").collapsed)
            shell.width = 1280
            compare(find("rail").width, 176)
            shell.appearance.textScale = 1.4
            compare(find("rail").width, 64)
        }
        function test_onlyPagesThatExist() {
            verify(find("rail-chat") && find("rail-models"))
            verify(!find("rail-planner"))
            shell.showPage("planner")
            compare(shell.page, "chat")
        }
        function test_choosingPages() {
            mouseClick(find("rail-models"))
            compare(shell.page, "models")
            verify(find("rail-models").current && !find("rail-chat").current)
            keyClick(Qt.Key_1, Qt.ControlModifier)
            compare(shell.page, "chat")
            keyClick(Qt.Key_2, Qt.ControlModifier)
            compare(shell.page, "models")
        }
        function test_railByArrows() {
            find("rail-chat").forceActiveFocus(Qt.TabFocusReason)
            keyClick(Qt.Key_Down)
            verify(find("rail-models").activeFocus)
            keyClick(Qt.Key_Return)
            compare(shell.page, "models")
            keyClick(Qt.Key_Up)
            verify(find("rail-chat").activeFocus)
        }
        function test_themeMenu() {
            find("rail-appearance").forceActiveFocus(Qt.TabFocusReason)
            keyClick(Qt.Key_Return)
            const menu = find("rail-appearance").menu
            tryVerify(() => menu.opened)
            for (let step = 0; step < 2; ++step)
                keyClick(Qt.Key_Down)
            keyClick(Qt.Key_Return)
            tryVerify(() => !menu.visible)
            compare(Theme.variant, "dark")
            shell.appearance.theme = "contrast"
            compare(Theme.variant, "highContrast")
            for (const [index, checked] of [false, false, false, true].entries())
                compare(menu.itemAt(index).checked, checked, "row " + index)
        }
        function test_textSizeByKeyboard() {
            keyClick(Qt.Key_Plus, Qt.ControlModifier)
            compare(shell.appearance.textScale, 1.1)
            compare(Theme.factor, 1.1)
            keyClick(Qt.Key_Minus, Qt.ControlModifier)
            keyClick(Qt.Key_Minus, Qt.ControlModifier)
            compare(shell.appearance.textScale, 0.9)
            keyClick(Qt.Key_0, Qt.ControlModifier)
            compare(shell.appearance.textScale, 1)
            shell.appearance.textScale = 9
            compare(shell.appearance.textScale, 2)
            shell.appearance.theme = "pink"
            compare(shell.appearance.theme, "light")
        }
        function test_nothingLoaded() {
            compare(find("statusWord").text, "No model loaded")
            verify(!find("statusHitRate").visible && !find("statusDrive").visible && !find("statusSpeed").visible)
            compare(find("statusMemory").text, "0.2\u00a0GiB")
            compare(find("statusDot").color, Theme.outline)
            compare(strip().Accessible.name, "No model loaded; memory 0.2\u00a0GiB")
        }
        function test_answering() {
            answering()
            compare(find("statusName").text, "V4.1 Flash")
            compare(find("statusHitRate").text, "62\u00a0%")
            compare(find("statusDrive").text, "4.1 of 6.8\u00a0GB/s")
            compare(find("statusSpeed").text, "2.4\u00a0tokens/s")
            compare(find("statusMemory").text, "53.1 of 54.0\u00a0GiB")
            compare(find("statusDot").color, Theme.ok)
            verify(find("statusGauge").visible)
            compare(strip().Accessible.name, "V4.1 Flash, Answering; hit rate 62\u00a0%; drive 4.1 of 6.8\u00a0GB/s; "
                + "2.4\u00a0tokens/s; memory 53.1 of 54.0\u00a0GiB")
            status.state = "loading"
            compare(find("statusDot").color, Theme.accent)
        }
        function test_unknownCeiling() {
            answering()
            status.ceilingBytesPerSecond = NaN
            compare(find("statusDrive").text, "4.1\u00a0GB/s")
            verify(!find("statusGauge").visible)
        }
        function shown() {
            return ["statusMemory", "statusGauge", "statusWord"].map(name => find(name).visible ? 1 : 0).join("")
        }
        function test_stripDropsInOrder() {
            answering()
            const seen = []
            for (let width = 1000; width >= 250; width -= 10) {
                strip().width = width
                if (seen[seen.length - 1] !== shown())
                    seen.push(shown())
                verify(find("statusName").visible && find("statusSpeed").visible)
            }
            strip().width = Qt.binding(() => shell.width)
            compare(seen, ["111", "011", "001", "000"])
        }
        function test_liveFiguresKeepTheirWidth() {
            answering()
            const width = find("statusDrive").width
            status.bytesPerSecond = 0
            compare(find("statusDrive").width, width)
        }
        function test_stopped() {
            Object.assign(status, {modelName: "V4.1 Flash", state: "stopped", stateText: "Stopped: the drive does not answer"})
            shell.page = "models"
            verify(!find("statusDot").visible)
            const link = Walk.focusable(strip())[0]
            compare(link.Accessible.name, "Show what happened")
            mouseClick(link)
            compare(shell.page, "chat")
        }
        function test_names() {
            answering()
            const items = Walk.focusable(shell)
            verify(items.length >= 3)
            for (const item of items) {
                verify(item.Accessible.name.length > 0, Walk.named(item) + " has no accessible name")
                verify(item.width >= 28 && item.height >= 28, Walk.named(item) + " is too small to hit")
            }
            compare(find("rail-models").Accessible.name, "Models, 61\u00a0%")
        }
        function test_toastAboveTheStrip() {
            shell.toast.show("Key copied")
            verify(shell.toast.visible)
            verify(shell.toast.mapToItem(shell, 0, shell.toast.height).y <= strip().y)
            shell.toast.hide()
        }
        function test_choicesAreKept() {
            const file = keepFile()
            const first = keeper.createObject(root, {file: file, persistent: true})
            first.theme = "dark"
            first.textScale = 1.3
            first.destroy()
            wait(0)
            const second = keeper.createObject(root, {file: file, persistent: true})
            compare(second.theme, "dark")
            compare(second.textScale, 1.3)
            second.theme = "system"
            second.textScale = 1
            second.destroy()
        }
        function keepFile() {
            return scratchFolder + "/appearance.ini"
        }
    }
    Component {
        id: keeper
        Appearance {}
    }
}
