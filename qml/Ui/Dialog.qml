import QtQuick
import QtQuick.Layouts
import QtQuick.Templates as T

// A question or a form over the page. The safe choice has the focus and is what Escape does; the other names its deed
// and what it frees. Content is one item below the text. An empty acceptText leaves only the safe choice.
T.Dialog {
    id: dialog

    property string text
    property string acceptText
    property string rejectText: qsTr("Cancel")
    property string acceptIcon
    property bool destructive: false
    property bool acceptEnabled: true
    property string acceptDisabledReason
    // The deed has the focus when it loses nothing.
    property bool acceptFirst: false

    parent: T.Overlay.overlay
    x: parent ? Math.round((parent.width - width) / 2) : 0
    y: parent ? Math.round((parent.height - height) / 2) : 0
    width: parent ? Math.min(Theme.size.dialog, parent.width - 2 * Theme.space.s4) : Theme.size.dialog
    implicitHeight: Math.min(parent ? parent.height - 2 * Theme.space.s4 : Infinity,
        implicitHeaderHeight + contentItem.implicitHeight + implicitFooterHeight + topPadding + bottomPadding)
    modal: true
    focus: true
    closePolicy: T.Popup.CloseOnEscape
    leftPadding: Theme.space.s5
    rightPadding: Theme.space.s5
    topPadding: Theme.space.s2
    bottomPadding: Theme.space.s3

    onOpened: {
        const first = acceptFirst && acceptButton.visible && acceptButton.enabled ? acceptButton : rejectButton
        if (focusItem)
            focusItem.forceActiveFocus(Qt.TabFocusReason)
        else
            first.forceActiveFocus(Qt.TabFocusReason)
    }
    // A field that should have the focus first.
    property Item focusItem: null
    default property alias content: body.data

    enter: Transition {
        NumberAnimation {
            property: "opacity"
            from: 0
            to: 1
            duration: Theme.motion.normal
            easing.type: Theme.motion.easing
        }
    }

    header: Label {
        text: dialog.title
        role: Theme.type.title
        leftPadding: Theme.space.s5
        rightPadding: Theme.space.s5
        topPadding: Theme.space.s4 + Theme.space.s1 + role.inset
        bottomPadding: Theme.space.s1 - role.inset
        elide: Text.ElideRight
        Accessible.role: Accessible.Heading
    }
    contentItem: ColumnLayout {
        spacing: Theme.space.s3

        Label {
            Layout.fillWidth: true
            visible: text.length > 0
            text: dialog.text
            wrapMode: Text.Wrap
        }
        ColumnLayout {
            id: body
            Layout.fillWidth: true
            Layout.fillHeight: true
            visible: children.length > 0
            spacing: Theme.space.s2
        }
    }
    footer: Item {
        implicitHeight: buttons.implicitHeight + Theme.space.s5 - Theme.space.s1

        Row {
            id: buttons
            anchors.right: parent.right
            anchors.rightMargin: Theme.space.s5
            spacing: Theme.space.s3

            Button {
                id: rejectButton
                objectName: "dialogReject"
                text: dialog.rejectText
                onClicked: dialog.reject()
            }
            Button {
                id: acceptButton
                objectName: "dialogAccept"
                visible: text.length > 0
                text: dialog.acceptText
                iconName: dialog.acceptIcon
                kind: dialog.destructive ? Button.Destructive : Button.Primary
                filled: true
                enabled: dialog.acceptEnabled
                disabledReason: dialog.acceptDisabledReason
                onClicked: dialog.accept()
            }
        }
    }
    background: Rectangle {
        color: Theme.surface
        radius: Theme.radius.card
        border.width: Theme.size.hairline
        border.color: Theme.outline

        Accessible.role: Accessible.Dialog
        Accessible.name: dialog.title
        Accessible.description: dialog.text
    }
    T.Overlay.modal: Rectangle {
        color: Theme.scrim
    }
}
