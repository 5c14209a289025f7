import QtQuick
import Colibri.Shell
import Colibri.Ui

// Everything around the pages: navigation rail, status strip, toast. The pages are its children and fill what is left:
//   Shell {
//       status: engineStatus
//       pages: [{key: "chat", title: qsTr("Chat"), icon: "chat"}, {key: "models", title: qsTr("Models"), icon: "models"}]
//       ChatPage { anchors.fill: parent; visible: shell.page === "chat" }
//   }
// Put it into a window with minimumWidth Theme.size.minWindowW, minimumHeight Theme.size.minWindowH and the first size
// Theme.size.firstWindowW × Theme.size.firstWindowH.
FocusScope {
    id: shell

    required property QtObject status
    // {key, title, icon, badge} in the order of Ctrl+1…
    property var pages: []
    property string page: pages.length > 0 ? pages[0].key : ""
    // The strip opens this page when it is one of `pages`.
    property string telemetryPage: "telemetry"
    // Where the strip's "Show what happened" leads.
    property string problemPage: "chat"
    // Keep theme, text size and motion over a restart; off for pictures and tests.
    property alias persistent: appearance_.persistent
    readonly property Appearance appearance: appearance_
    readonly property Toast toast: toast_
    readonly property bool narrow: Theme.effectiveWidth(width) < Theme.size.railCollapseBelow
    default property alias content: area.data

    function hasPage(key: string) : bool {
        return pages.some(one => one.key === key)
    }

    function showPage(key: string) {
        if (!hasPage(key) || key === page)
            return
        page = key
        arrival.restart()
    }

    Appearance {
        id: appearance_
    }
    Binding {
        target: Theme
        property: "choice"
        value: appearance_.theme
    }
    Binding {
        target: Theme
        property: "textScale"
        value: appearance_.textScale
    }
    Binding {
        target: Theme
        property: "reducedMotion"
        value: appearance_.reducedMotion
    }

    Rectangle {
        anchors.fill: parent
        color: Theme.window
    }
    NavigationRail {
        id: rail
        objectName: "rail"
        anchors.top: parent.top
        anchors.bottom: strip.top
        pages: shell.pages
        current: shell.page
        appearance: appearance_
        collapsed: shell.narrow
        onChosen: key => shell.showPage(key)
    }
    Item {
        id: area
        objectName: "pageArea"
        anchors.left: rail.right
        anchors.right: parent.right
        anchors.top: parent.top
        anchors.bottom: strip.top
        clip: true

        NumberAnimation {
            id: arrival
            target: area
            property: "opacity"
            from: 0
            to: 1
            duration: Theme.motion.normal
            easing.type: Theme.motion.easing
        }
    }
    StatusStrip {
        id: strip
        objectName: "statusStrip"
        anchors.bottom: parent.bottom
        width: parent.width
        status: shell.status
        opens: shell.hasPage(shell.telemetryPage)
        onClicked: shell.showPage(shell.telemetryPage)
        onProblemRequested: shell.showPage(shell.problemPage)
    }
    Item {
        anchors.fill: area

        Toast {
            id: toast_
            objectName: "toast"
        }
    }

    Instantiator {
        model: shell.pages

        delegate: Shortcut {
            required property int index
            required property var modelData

            sequence: "Ctrl+" + (index + 1)
            onActivated: shell.showPage(modelData.key)
        }
    }
    Shortcut {
        sequences: [StandardKey.ZoomIn, "Ctrl+="]
        onActivated: appearance_.textScale += 0.1
    }
    Shortcut {
        sequences: [StandardKey.ZoomOut]
        onActivated: appearance_.textScale -= 0.1
    }
    Shortcut {
        sequence: "Ctrl+0"
        onActivated: appearance_.textScale = 1
    }
}
