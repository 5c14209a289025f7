import QtQuick
import QtQuick.Layouts

// What needs attention until its cause is gone: an icon, a sentence, at most one button.
Rectangle {
    id: banner

    enum Kind { Neutral, Warn, Error, Ok }

    required property string text
    property int kind: Banner.Neutral
    property string iconName: ["info", "warning", "error", "check"][kind]
    property string actionText
    property string actionIcon

    signal action()

    readonly property color edge: [Theme.border, Theme.warn, Theme.error, Theme.ok][kind]

    implicitWidth: Theme.size.dialog
    implicitHeight: row.implicitHeight + 2 * Theme.space.field
    radius: Theme.radius.card
    color: [Theme.surface, Theme.warnSoft, Theme.errorSoft, Theme.okSoft][kind]
    border.width: Theme.size.hairline
    border.color: edge

    Accessible.role: Accessible.AlertMessage
    Accessible.name: text

    RowLayout {
        id: row
        anchors.fill: parent
        anchors.leftMargin: Theme.space.s4
        anchors.rightMargin: Theme.space.s4
        spacing: Theme.space.s3

        Icon {
            name: banner.iconName
            size: Theme.size.icon
            color: banner.kind === Banner.Neutral ? Theme.accent : banner.edge
        }
        Label {
            Layout.fillWidth: true
            text: banner.text
            wrapMode: Text.Wrap
            Accessible.ignored: true
        }
        Button {
            visible: text.length > 0
            compact: true
            text: banner.actionText
            iconName: banner.actionIcon
            onClicked: banner.action()
        }
    }
}
