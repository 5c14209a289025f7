import QtQuick

// Nothing is here yet: a sentence, what would bring something here, one button. No picture.
Column {
    id: empty

    required property string title
    property string text
    property string actionText
    property string actionIcon
    property bool primary: false

    signal action()

    width: Math.min(Theme.size.emptyStateMax, parent ? parent.width - 2 * Theme.space.s4 : Theme.size.emptyStateMax)
    spacing: Theme.space.s2

    Label {
        width: parent.width
        text: empty.title
        role: Theme.type.strong
        horizontalAlignment: Text.AlignHCenter
        wrapMode: Text.Wrap
    }
    Label {
        width: parent.width
        visible: text.length > 0
        text: empty.text
        role: Theme.type.small
        color: Theme.text2
        horizontalAlignment: Text.AlignHCenter
        wrapMode: Text.Wrap
    }
    Button {
        anchors.horizontalCenter: parent.horizontalCenter
        visible: text.length > 0
        compact: !empty.primary
        kind: empty.primary ? Button.Primary : Button.Normal
        text: empty.actionText
        iconName: empty.actionIcon
        onClicked: empty.action()
    }
}
