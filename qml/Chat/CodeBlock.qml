import QtQuick
import QtQuick.Templates as T
import Colibri.Ui
import "markup.js" as Markup

// Code in mono with its language and Copy. It scrolls sideways and never wraps; long code is folded.
Rectangle {
    id: block

    required property string code
    required property string preview
    required property string language
    required property int lineCount
    required property bool live

    signal copyRequested(text: string)

    property bool unfolded: false
    readonly property bool folded: !unfolded && preview.length < code.length

    implicitHeight: header.height + scroller.height + 2 * Theme.space.s3 + (more.visible ? more.height + Theme.space.s2 : 0)
    color: Theme.sunken
    radius: Theme.radius.card
    border.width: Theme.size.hairline
    border.color: Theme.border

    Item {
        id: header
        width: parent.width
        height: Theme.size.rowDense

        Label {
            x: Theme.space.s3
            anchors.verticalCenter: parent.verticalCenter
            width: copy.x - x - Theme.space.s2
            text: block.language.length > 0 ? Markup.languageName(block.language) : qsTr("Code")
            role: Theme.type.caption
            color: Theme.text2
            elide: Text.ElideRight
        }
        Button {
            id: copy
            anchors.right: parent.right
            anchors.rightMargin: Theme.space.s1
            anchors.verticalCenter: parent.verticalCenter
            compact: true
            kind: Button.Quiet
            iconName: "copy"
            text: qsTr("Copy")
            toolTip: qsTr("Copy this code")
            onClicked: block.copyRequested(block.code)
        }
        Hairline {
            anchors.bottom: parent.bottom
            width: parent.width
        }
    }
    Flickable {
        id: scroller
        x: Theme.space.s3
        y: header.height + Theme.space.s3
        width: parent.width - 2 * x
        height: content.implicitHeight
        contentWidth: content.implicitWidth
        contentHeight: height
        flickableDirection: Flickable.HorizontalFlick
        boundsBehavior: Flickable.StopAtBounds
        clip: true

        T.ScrollBar.horizontal: ScrollBar {}

        TextEdit {
            id: content
            text: block.unfolded ? block.code : block.preview
            textFormat: TextEdit.PlainText
            font: Theme.type.code.font
            color: Theme.text
            wrapMode: TextEdit.NoWrap
            readOnly: true
            selectByMouse: true
            selectionColor: Theme.accent
            selectedTextColor: Theme.accentInk
            Accessible.role: Accessible.StaticText
            Accessible.name: qsTr("Code")
            Accessible.description: text
        }
    }
    Button {
        id: more
        x: Theme.space.s1
        y: scroller.y + scroller.height + Theme.space.s2
        visible: block.folded || block.unfolded
        compact: true
        kind: Button.Quiet
        text: block.unfolded ? qsTr("Show less")
            : block.live ? qsTr("Show all %1 lines so far").arg(Format.count(block.lineCount))
            : qsTr("Show all %1 lines").arg(Format.count(block.lineCount))
        onClicked: block.unfolded = !block.unfolded
    }
}
