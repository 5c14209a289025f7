import QtQuick

// A short word for what needs no answer, such as "Key copied": show(text), or show(text, "Undo", callback). At most one
// is there; it goes after 6 s. Never for failures. It lies at the bottom centre of its parent.
Rectangle {
    id: toast

    property string text
    property string actionText
    property var action: null

    readonly property bool shown: text.length > 0

    function show(words: string, deed: string, callback: var) {
        text = words
        actionText = deed || ""
        action = callback || null
        stay.restart()
    }

    function hide() {
        stay.stop()
        text = ""
        actionText = ""
        action = null
    }

    anchors.horizontalCenter: parent ? parent.horizontalCenter : undefined
    anchors.bottom: parent ? parent.bottom : undefined
    anchors.bottomMargin: Theme.space.s4
    width: Math.min(Math.ceil(row.implicitWidth) + 2 * (Theme.space.s3 + Theme.space.hair),
        parent ? parent.width - 2 * Theme.space.s4 : row.implicitWidth)
    height: row.implicitHeight + 2 * Theme.space.field
    radius: Theme.radius.card
    color: Theme.text
    visible: opacity > 0
    opacity: shown ? 1 : 0

    Accessible.role: Accessible.AlertMessage
    Accessible.name: text
    Accessible.ignored: !shown

    Behavior on opacity {
        enabled: toast.shown
        NumberAnimation {
            duration: Theme.motion.normal
            easing.type: Theme.motion.easing
        }
    }

    Timer {
        id: stay
        interval: Theme.motion.toastStay
        // Somebody who points at it, or has the focus on it, is still reading.
        onTriggered: pointer.hovered || deed.activeFocus ? restart() : toast.hide()
    }
    HoverHandler {
        id: pointer
    }
    Row {
        id: row
        anchors.centerIn: parent
        spacing: Theme.space.s3

        Label {
            text: toast.text
            color: Theme.window
            Accessible.ignored: true
        }
        ToastButton {
            id: deed
            anchors.verticalCenter: parent.verticalCenter
            visible: text.length > 0
            text: toast.actionText
            onClicked: {
                const callback = toast.action
                toast.hide()
                if (callback)
                    callback()
            }
        }
    }
}
