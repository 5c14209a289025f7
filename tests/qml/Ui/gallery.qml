import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T
import Colibri.Ui
import Colibri.Shell

// Every control with its states, drawn by `test_qml --gallery` to be looked at.
Rectangle {
    id: gallery

    property string theme: "light"
    property real textScale: 1

    width: 1280
    height: 1320
    color: Theme.window

    Component.onCompleted: {
        Theme.choice = theme
        Theme.textScale = textScale
        later.start()
    }

    Timer {
        id: later
        interval: 1
        onTriggered: {
            menu.open()
            focused.forceActiveFocus(Qt.TabFocusReason)
        }
    }

    component Section: ColumnLayout {
        property string title
        Layout.fillWidth: true
        Layout.preferredWidth: 1
        Layout.alignment: Qt.AlignTop
        spacing: Theme.space.s3
        Label { text: parent.title; role: Theme.type.caption; color: Theme.text2 }
        Hairline { Layout.fillWidth: true }
    }
    component Figures: QtObject {
        property string modelName
        property string state: "none"
        property string stateText
        property real hitRate: NaN
        property real bytesPerSecond: NaN
        property real ceilingBytesPerSecond: NaN
        property real tokensPerSecond: NaN
        property real memoryBytes: 53.1 * 1073741824
        property real memoryBudgetBytes: 54 * 1073741824
    }

    ColumnLayout {
        anchors { left: parent.left; right: parent.right; top: parent.top; margins: Theme.space.s6 }
        spacing: Theme.space.s5

        Label { text: "Controls and their states"; role: Theme.type.display }

        Section {
            title: "Rail"
            RowLayout {
                spacing: 16
                RailItem { implicitWidth: 136; text: "Models"; iconName: "models" }
                RailItem { implicitWidth: 136; text: "Models"; iconName: "models"; down: true }
                RailItem { implicitWidth: 136; text: "Models"; iconName: "models"; current: true; badge: "61\u00a0%" }
                RailItem { implicitWidth: 44; text: "Models"; iconName: "models"; current: true; collapsed: true }
            }
        }
        Section {
            title: "Status strip"
            StatusStrip { Layout.fillWidth: true; status: Figures { memoryBytes: 214748364 } }
            StatusStrip { Layout.fillWidth: true; status: Figures { modelName: "V4.1 Flash"; state: "loading"; stateText: "Loading, 11.2 of 17.7 GB"; bytesPerSecond: 6.3e9; ceilingBytesPerSecond: 6.8e9 } }
            StatusStrip { Layout.fillWidth: true; status: Figures { modelName: "V4.1 Flash"; state: "working"; stateText: "Answering"; hitRate: 0.62; bytesPerSecond: 4.1e9; ceilingBytesPerSecond: 6.8e9; tokensPerSecond: 2.4 } }
            StatusStrip { Layout.fillWidth: true; status: Figures { modelName: "V4.1 Flash"; state: "stopped"; stateText: "Stopped: drive /data does not answer" } }
        }
        RowLayout {
            spacing: Theme.space.s6
            Section {
                title: "Button, primary and normal"
                RowLayout {
                    spacing: 16
                    Button { text: "Load"; iconName: "play"; kind: Button.Primary }
                    Button { text: "Load"; iconName: "play"; kind: Button.Primary; down: true }
                    Button { text: "Load"; iconName: "play"; kind: Button.Primary; enabled: false }
                    Button { text: "Pause"; iconName: "pause" }
                    Button { text: "Pause"; iconName: "pause"; down: true }
                    Button { text: "Pause"; iconName: "pause"; enabled: false }
                }
            }
            Section {
                title: "Button, quiet, destructive, icon"
                RowLayout {
                    spacing: 16
                    Button { text: "Plan"; kind: Button.Quiet }
                    Button { text: "Plan"; kind: Button.Quiet; down: true }
                    Button { text: "Delete"; iconName: "trash"; kind: Button.Destructive }
                    Button { text: "Delete 510\u00a0GB"; kind: Button.Destructive; filled: true }
                    Button { text: "Deleting all of it"; busy: true; busyText: "Deleting, 3 of 48" }
                    IconButton { text: "Copy"; iconName: "copy"; outlined: true }
                    IconButton { text: "Again"; iconName: "retry" }
                }
            }
        }
        RowLayout {
            spacing: Theme.space.s6
            Section {
                title: "Text field"
                RowLayout {
                    spacing: 10
                    TextField { label: "Search"; placeholderText: "Search"; iconName: "search"; implicitWidth: 100 }
                    TextField { id: focused; label: "Budget"; text: "54.0"; unit: "GiB"; implicitWidth: 110 }
                    TextField { label: "Budget"; text: "16"; enabled: false; implicitWidth: 80 }
                    TextField { label: "Budget"; text: "60.0"; errorText: "At most 54.0 GiB are free."; implicitWidth: 168 }
                    Choice { label: "Drafts"; model: ["Auto", "Off"] }
                }
            }
            Section {
                title: "Slider, switch, check box, choice, chips"
                RowLayout {
                    spacing: 16
                    Switch { label: "Off" }
                    Switch { label: "On"; checked: true }
                    Switch { label: "Disabled"; enabled: false }
                    CheckBox { label: "No" }
                    CheckBox { text: "Yes"; checked: true }
                    Segmented { label: "Colour"; model: ["Tier and heat", "Heat", "Last token"] }
                }
                RowLayout {
                    spacing: 16
                    Chip { text: "Default" }
                    Chip { text: "Set by you"; kind: Chip.Accent }
                    Chip { text: "Ready"; kind: Chip.Ok; iconName: "check" }
                    Chip { text: "Drive missing"; kind: Chip.Warn; iconName: "driveMissing" }
                    Chip { text: "Broken"; kind: Chip.Error; iconName: "error" }
                }
            }
        }
        RowLayout {
            spacing: Theme.space.s6
            PriceSlider { Layout.fillWidth: true; Layout.preferredWidth: 1; label: "Context"; valueText: "16,384\u00a0tokens"; value: 0.5; caption: "1.0\u00a0GiB for its KV cache, 53 experts fewer" }
            PriceSlider { Layout.fillWidth: true; Layout.preferredWidth: 1; label: "Memory budget"; valueText: "40.0\u00a0GiB"; value: 0.62; limit: 0.86; caption: "mark: the most now, 54.0\u00a0GiB" }
            PriceSlider { Layout.fillWidth: true; Layout.preferredWidth: 1; label: "Graphics memory budget"; valueText: "none"; enabled: false; disabledReason: "No usable GPU: driver 535 is older than 550" }
        }
        RowLayout {
            spacing: Theme.space.s6
            Section {
                title: "Banner"
                Banner { Layout.fillWidth: true; text: "The last run ended unexpectedly. The model was not loaded again."; actionText: "Load V4.1 Flash" }
                Banner { Layout.fillWidth: true; kind: Banner.Warn; iconName: "driveMissing"; text: "Drive “Archive” is not connected. Its two models wait."; actionText: "Look again" }
                Banner { Layout.fillWidth: true; kind: Banner.Error; text: "/data is full. The download is paused at 102\u00a0GB; 38\u00a0GB more are needed."; actionText: "Free space" }
                Banner { Layout.fillWidth: true; kind: Banner.Ok; text: "V4 Flash 0731 is complete and verified."; actionText: "Load" }
            }
            Section {
                title: "Toast, progress, where the time went"
                Item {
                    Layout.fillWidth: true
                    implicitHeight: 56
                    Toast { Component.onCompleted: show("Chat moved to the archive", "Undo", null) }
                }
                ProgressBar { Layout.fillWidth: true; value: 0.61; label: "Download"; ticks: [0.25, 0.5, 0.75] }
                Meter { parts: [{share: 0.19, color: Theme.accent}, {share: 0.1, color: Theme.text2}] }
                SplitBar {
                    Layout.fillWidth: true
                    parts: Theme.tables.timeSplit.map((row, index) => Object.assign({value: [71.5, 31.2, 15.6, 7.8, 3.9][index], text: Format.duration([71.5, 31.2, 15.6, 7.8, 3.9][index])}, row))
                }
                SplitBar {
                    Layout.fillWidth: true
                    barHeight: Theme.size.memoryBar
                    legend: false
                    parts: Theme.tables.memoryTags.map(row => Object.assign({value: 1, text: ""}, row))
                }
            }
        }
        RowLayout {
            spacing: Theme.space.s6
            Rectangle {
                Layout.fillWidth: true
                Layout.preferredWidth: 1
                implicitHeight: 190
                color: "transparent"
                Dialog {
                    parent: gallery
                    x: 60
                    y: gallery.height - height - 30
                    modal: false
                    visible: true
                    title: "Delete DeepSeek V4.1 Flash?"
                    text: "48 files in /data/models are deleted, which frees 510\u00a0GB. Chats and settings stay. Downloading it again took 5\u00a0h\u00a054\u00a0min last time."
                    acceptText: "Delete 510\u00a0GB"
                    rejectText: "Keep it"
                    destructive: true
                }
            }
            Card {
                Layout.fillWidth: true
                Layout.preferredWidth: 1
                implicitHeight: 190
                EmptyState { anchors.centerIn: parent; title: "No requests yet"; text: "Point a program at http://127.0.0.1:8080/v1 and its requests appear here."; actionText: "Copy the address"; actionIcon: "copy" }
            }
        }
    }
    Menu {
        id: menu
        MenuItem { text: "Copy"; iconName: "copy"; shortcutText: "Ctrl+C" }
        MenuItem { text: "Follow the system"; checkable: true; checked: true }
        MenuSeparator {}
        MenuItem { text: "Delete"; iconName: "trash"; destructive: true }
        x: 1020
        y: 60
        parent: gallery
    }
    ToolTip { parent: gallery; x: 700; y: 70; visible: true; delay: 0; text: "Assumed: left free so that the system does not swap" }
}
