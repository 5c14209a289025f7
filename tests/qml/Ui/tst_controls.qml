import QtQuick
import QtTest
import Colibri.Ui
import "walk.js" as Walk

// States, keyboard, names and hit areas of the controls.
Item {
    id: root
    width: 640
    height: 640

    Rectangle {
        anchors.fill: parent
        color: Theme.window
    }
    Column {
        id: sheet
        x: 16
        y: 16
        spacing: 8

        Row {
            spacing: 8
            Button { id: plain; objectName: "plain"; text: "Pause"; iconName: "pause" }
            Button { id: primary; objectName: "primary"; text: "Load"; kind: Button.Primary }
            Button { id: off; objectName: "off"; text: "Plan"; enabled: false; disabledReason: "No model is loaded." }
            Button { id: busy; objectName: "busy"; text: "Delete everything"; busyText: "Deleting" }
            IconButton { id: icon; objectName: "icon"; text: "Copy"; iconName: "copy"; compact: true }
        }
        TextField { id: field; objectName: "field"; label: "Memory budget"; unit: "GiB" }
        TextArea { id: area; objectName: "area"; label: "Message" }
        Row {
            spacing: 8
            Switch { id: toggle; objectName: "toggle"; label: "Direct reading" }
            CheckBox { id: check; objectName: "check"; text: "Also the cache" }
            Segmented { id: segmented; objectName: "segmented"; label: "Colour"; model: ["Tier", "Heat", "Token"] }
            Choice { id: choice; objectName: "choice"; label: "Drafts"; model: ["Auto", "Off"] }
        }
        Slider { id: slider; objectName: "slider"; label: "Context"; from: 0; to: 100; stepSize: 1; value: 50; limit: 80 }
        PriceSlider { id: price; objectName: "price"; width: 300; label: "Budget"; valueText: Format.count(value); from: 0; to: 100; stepSize: 1; value: 40 }
        Banner { id: banner; objectName: "banner"; text: "The drive is full."; kind: Banner.Error; actionText: "Free space" }
        EmptyState { id: empty; title: "No requests yet"; actionText: "Copy the address" }
        Chip { id: chip; text: "Ready"; kind: Chip.Ok }
        ProgressBar { id: progress; label: "Download"; value: 0.5 }
    }
    Toast { id: toast }
    Dialog { id: dialog; title: "Delete it?"; text: "48 files are deleted."; acceptText: "Delete 510 GB"; rejectText: "Keep it"; destructive: true }
    Menu {
        id: menu
        MenuItem { id: first; text: "First"; shortcutText: "Ctrl+F" }
        MenuItem { id: second; text: "Second" }
    }

    SignalSpy { id: clicks; signalName: "clicked" }
    SignalSpy { id: moved; target: slider; signalName: "moved" }
    SignalSpy { id: accepted; target: dialog; signalName: "accepted" }
    SignalSpy { id: rejected; target: dialog; signalName: "rejected" }

    TestCase {
        name: "Controls"
        when: windowShown

        function init() {
            Theme.choice = "light"
            Theme.textScale = 1
            Theme.reducedMotion = true
            clicks.clear()
            mouseMove(root, root.width - 1, root.height - 1)
        }
        function cleanup() {
            init()
            busy.busy = false
            dialog.close()
            menu.close()
            toast.hide()
        }
        // colour of the control's ground, four pixels in
        function ground(item) {
            return at(item, 5, 5)
        }
        function at(item, x, y) {
            const place = item.mapToItem(root, x, y)
            return grabImage(root).pixel(place.x, place.y)
        }

        function test_groundFollowsTheState() {
            compare(ground(plain), Theme.surface)
            mouseMove(plain, 10, 10)
            tryVerify(() => plain.hovered)
            compare(ground(plain), Theme.hover)
            mousePress(plain, 10, 10)
            compare(ground(plain), Theme.pressed)
            mouseRelease(plain, 10, 10)
            compare(ground(primary), Theme.accent)
            mouseMove(primary, 10, 10)
            tryVerify(() => primary.hovered)
            compare(ground(primary), Theme.accentHover)
            mousePress(primary, 10, 10)
            compare(ground(primary), Theme.accentPressed)
            mouseRelease(primary, 10, 10)
            Theme.choice = "dark"
            mouseMove(root, root.width - 1, root.height - 1)
            tryVerify(() => !primary.hovered)
            compare(ground(primary), "#5cc1c9")
        }
        function test_ringOnKeyboardFocusOnly() {
            mouseClick(plain)
            verify(!plain.visualFocus)
            const before = at(plain, plain.width + 2, 16)
            icon.forceActiveFocus(Qt.TabFocusReason)
            plain.forceActiveFocus(Qt.TabFocusReason)
            verify(plain.visualFocus)
            const after = at(plain, plain.width + 2, 16)
            verify(String(before) !== String(after))
            compare(after, Theme.focus)
        }
        function test_keysPress_data() {
            return [{tag: "space", key: Qt.Key_Space}, {tag: "return", key: Qt.Key_Return}, {tag: "enter", key: Qt.Key_Enter}]
        }
        function test_keysPress(data) {
            for (const item of [plain, icon, toggle, check]) {
                clicks.clear()
                clicks.target = item
                item.forceActiveFocus(Qt.TabFocusReason)
                keyClick(data.key)
                compare(clicks.count, 1, Walk.named(item))
            }
        }
        function test_disabledTellsItsReason() {
            clicks.target = off
            mouseClick(off)
            compare(clicks.count, 0)
            compare(off.Accessible.description, "No model is loaded.")
            mouseMove(off, 5, 5)
            tryVerify(() => root.Window.window && findToolTip(off) === "No model is loaded.", 3000)
        }
        function findToolTip(item) {
            for (let i = 0; i < item.children.length; ++i) {
                const loader = item.children[i]
                if (loader.shown === true && loader.item)
                    return loader.item.visible ? loader.item.text : ""
            }
            return ""
        }
        function test_busyKeepsItsWidthAndTakesNoClicks() {
            clicks.target = busy
            const width = busy.width
            busy.forceActiveFocus(Qt.TabFocusReason)
            busy.busy = true
            compare(busy.width, width)
            compare(busy.Accessible.name, "Deleting")
            mouseClick(busy)
            keyClick(Qt.Key_Space)
            keyClick(Qt.Key_Return)
            compare(clicks.count, 0)
            verify(busy.activeFocus)
        }
        function test_fieldErrors() {
            field.errorText = "At most 54.0 GiB are free."
            compare(field.Accessible.description, "At most 54.0 GiB are free.")
            compare(at(field, 40, 0), Theme.error)
            field.errorText = ""
            compare(at(field, 40, 0), Theme.outline)
        }
        function test_fieldTakesText() {
            field.text = ""
            mouseClick(field)
            for (const letter of ["5", "4"])
                keyClick(letter)
            compare(field.text, "54")
        }
        function test_tabLeavesTheTextArea() {
            area.forceActiveFocus(Qt.TabFocusReason)
            keyClick(Qt.Key_Tab)
            verify(!area.activeFocus)
            compare(area.text, "")
            keyClick(Qt.Key_Tab, Qt.ShiftModifier)
            verify(area.activeFocus)
        }
        function test_sliderKeys() {
            slider.value = 50
            moved.clear()
            slider.forceActiveFocus(Qt.TabFocusReason)
            keyClick(Qt.Key_Right)
            compare(slider.value, 51)
            keyClick(Qt.Key_Left)
            compare(slider.value, 50)
            keyClick(Qt.Key_PageUp)
            compare(slider.value, 60)
            keyClick(Qt.Key_PageDown)
            compare(slider.value, 50)
            keyClick(Qt.Key_End)
            compare(slider.value, 100)
            keyClick(Qt.Key_Home)
            compare(slider.value, 0)
            compare(moved.count, 6)
        }
        function test_priceCanBeTyped() {
            price.value = 40
            const handle = findFocusable(price)
            handle.forceActiveFocus(Qt.TabFocusReason)
            keyClick(Qt.Key_F2)
            keyClick("7")
            keyClick("3")
            keyClick(Qt.Key_Return)
            compare(price.value, 73)
            keyClick(Qt.Key_F2)
            keyClick("x")
            keyClick(Qt.Key_Return)
            compare(price.value, 73)
            keyClick(Qt.Key_F2)
            keyClick("9")
            keyClick(Qt.Key_Escape)
            compare(price.value, 73)
        }
        function findFocusable(item) {
            return Walk.focusable(item)[0]
        }
        function test_segmentedByArrows() {
            segmented.currentIndex = 0
            Walk.focusable(segmented)[0].forceActiveFocus(Qt.TabFocusReason)
            segmented.choose(0)
            keyClick(Qt.Key_Right)
            compare(segmented.currentIndex, 1)
            keyClick(Qt.Key_Right)
            keyClick(Qt.Key_Right)
            compare(segmented.currentIndex, 2)
            keyClick(Qt.Key_Left)
            compare(segmented.currentIndex, 1)
        }
        function test_choiceByKeyboard() {
            choice.currentIndex = 0
            choice.forceActiveFocus(Qt.TabFocusReason)
            keyClick(Qt.Key_Return)
            tryVerify(() => choice.popup.opened)
            keyClick(Qt.Key_Down)
            keyClick(Qt.Key_Return)
            tryVerify(() => !choice.popup.visible)
            compare(choice.currentIndex, 1)
        }
        function test_dialogIsSafe() {
            accepted.clear()
            rejected.clear()
            plain.forceActiveFocus(Qt.TabFocusReason)
            dialog.open()
            tryVerify(() => dialog.opened)
            const keep = findChild(dialog.contentItem.parent, "dialogReject")
            verify(keep.activeFocus)
            keyClick(Qt.Key_Escape)
            tryVerify(() => !dialog.visible)
            compare(rejected.count, 1)
            dialog.open()
            tryVerify(() => dialog.opened)
            mouseClick(findChild(dialog.contentItem.parent, "dialogAccept"))
            tryVerify(() => !dialog.visible)
            compare(accepted.count, 1)
        }
        function test_menuOpensBesideItsButton() {
            plain.forceActiveFocus(Qt.TabFocusReason)
            menu.openAt(plain)
            tryVerify(() => menu.opened)
            verify(menu.y >= plain.height)
            compare(menu.currentIndex, 0)
            compare(first.height, 32)
            verify(menu.width >= first.implicitWidth)
            keyClick(Qt.Key_Down)
            compare(menu.currentIndex, 1)
            keyClick(Qt.Key_Escape)
            tryVerify(() => !menu.visible)
        }
        function test_toast() {
            let undone = 0
            toast.show("Key copied")
            verify(toast.visible)
            toast.show("Chat moved", "Undo", () => ++undone)
            const act = Walk.focusable(toast)[0]
            compare(act.Accessible.name, "Undo")
            mouseClick(act)
            compare(undone, 1)
            verify(!toast.shown)
        }
        function test_everyFocusableItemHasAName() {
            toast.show("Chat moved", "Undo", null)
            const items = Walk.focusable(root)
            verify(items.length >= 15, items.length + " focusable items")
            for (const item of items)
                verify(item.Accessible.name.length > 0, Walk.named(item) + " has no accessible name")
        }
        function test_hitAreas() {
            for (const item of Walk.focusable(sheet)) {
                if (item.objectName.length > 0)
                    verify(item.width >= 28 && item.height >= 28, Walk.named(item) + " is " + item.width + " x " + item.height)
            }
        }
        function test_heightsGrowWithTheText() {
            compare(plain.height, 32)
            compare(icon.height, 28)
            Theme.textScale = 2
            compare(plain.height, 64)
            compare(chip.height, 44)
            verify(primary.width > 64)
        }
        function test_progressWords() {
            compare(progress.Accessible.description, "50\u00a0%")
            compare(progress.height, 8)
        }
    }
}
