import QtQuick
import QtQuick.Templates as T

// One of several, shown in a field that opens a list. `label` is its accessible name.
T.ComboBox {
    id: control

    property string label
    property string disabledReason
    property bool compact: false

    implicitWidth: Math.max(Theme.scaled(120), Math.ceil(implicitContentWidth) + leftPadding + rightPadding)
    implicitHeight: compact ? Theme.size.controlCompact : Theme.size.control
    implicitContentWidthPolicy: T.ComboBox.WidestText
    leftPadding: Theme.space.field
    rightPadding: Theme.space.field + Theme.size.iconSmall + Theme.space.s2
    hoverEnabled: true
    focusPolicy: Qt.StrongFocus
    font: compact ? Theme.type.small.font : Theme.type.body.font

    Accessible.role: Accessible.ComboBox
    Accessible.name: label
    Accessible.description: enabled ? displayText : disabledReason
    Accessible.onPressAction: popup.open()

    Keys.onReturnPressed: openOrTake()
    Keys.onEnterPressed: openOrTake()
    // The template closes the list when Return is let go.
    Keys.onReleased: event => event.accepted = event.key === Qt.Key_Return || event.key === Qt.Key_Enter

    function openOrTake() {
        if (!popup.visible) {
            popup.open()
            return
        }
        currentIndex = highlightedIndex
        activated(currentIndex)
        popup.close()
    }

    contentItem: Text {
        text: control.displayText
        textFormat: Text.PlainText
        font: control.font
        color: control.enabled ? Theme.text : Theme.textDisabled
        verticalAlignment: Text.AlignVCenter
        elide: Text.ElideRight
    }
    indicator: Icon {
        x: control.width - width - Theme.space.field
        y: Math.round((control.height - height) / 2)
        name: "chevronDown"
        color: control.enabled ? Theme.text : Theme.textDisabled
    }
    background: FieldFrame {
        field: control
        hovered: control.hovered
        focusRing: control.visualFocus
    }

    delegate: T.ItemDelegate {
        id: option

        required property int index
        required property var modelData
        readonly property string word: control.textAt(index)

        width: ListView.view ? ListView.view.width : implicitWidth
        implicitHeight: Theme.size.rowDense
        leftPadding: Theme.space.field
        rightPadding: Theme.space.field
        highlighted: control.highlightedIndex === index
        hoverEnabled: true
        font: control.font

        Accessible.role: Accessible.ListItem
        Accessible.name: word
        Accessible.selected: control.currentIndex === index

        contentItem: Text {
            text: option.word
            textFormat: Text.PlainText
            font: option.font
            color: control.currentIndex === option.index ? Theme.accentSoftInk : Theme.text
            verticalAlignment: Text.AlignVCenter
            elide: Text.ElideRight
        }
        background: Rectangle {
            color: option.highlighted ? Theme.hover
                : control.currentIndex === option.index ? Theme.accentSoft : "transparent"
            border.width: control.currentIndex === option.index ? Theme.softEdge : 0
            border.color: Theme.border
        }
    }
    popup: T.Popup {
        y: control.height + Theme.space.s1
        width: Math.max(control.width, Theme.size.menuMin)
        padding: Theme.size.hairline
        implicitHeight: Math.min(contentItem.implicitHeight + 2 * padding, Theme.size.menuMax)
        margins: Theme.space.s2

        contentItem: ListView {
            clip: true
            implicitHeight: contentHeight
            model: control.delegateModel
            currentIndex: control.highlightedIndex
            highlightMoveDuration: Theme.motion.instant
            boundsBehavior: Flickable.StopAtBounds
            T.ScrollBar.vertical: ScrollBar {}
        }
        background: Rectangle {
            color: Theme.surface
            radius: Theme.radius.control
            border.width: Theme.size.hairline
            border.color: Theme.outline
        }
    }

    HoverTip {
        shown: control.hovered && !control.popup.visible
        text: control.enabled ? "" : control.disabledReason
    }
}
