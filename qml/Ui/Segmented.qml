import QtQuick
import QtQuick.Templates as T

// One of a few words in a row. `model` is a list of words; the arrows move the choice.
FocusScope {
    id: control

    property var model: []
    property int currentIndex: 0
    property string label

    signal activated(index: int)

    implicitWidth: frame.implicitWidth
    implicitHeight: Theme.size.controlCompact

    Accessible.role: Accessible.RadioButton
    Accessible.ignored: true

    function choose(index: int) {
        if (index < 0 || index >= words.count)
            return
        words.itemAt(index).forceActiveFocus(Qt.TabFocusReason)
        if (index !== currentIndex) {
            currentIndex = index
            activated(index)
        }
    }

    Rectangle {
        id: frame
        anchors.fill: parent
        implicitWidth: row.implicitWidth + 2 * Theme.space.hair
        radius: Theme.radius.control
        color: Theme.surface
        border.width: Theme.size.hairline
        border.color: control.enabled ? Theme.outline : Theme.border
    }
    Row {
        id: row
        x: Theme.space.hair
        y: Theme.space.hair

        Repeater {
            id: words
            model: control.model

            T.AbstractButton {
                id: word

                required property int index
                required property string modelData
                readonly property bool current: index === control.currentIndex

                text: modelData
                // wide enough for the word in either weight, so that nothing moves with the choice
                implicitWidth: Math.ceil(strongWidth.advanceWidth) + 2 * Theme.space.field
                implicitHeight: control.height - 2 * Theme.space.hair
                hoverEnabled: true
                focusPolicy: current ? Qt.StrongFocus : Qt.ClickFocus
                font: Theme.type.small.font
                onClicked: control.choose(index)

                Accessible.role: Accessible.RadioButton
                Accessible.name: control.label.length > 0 ? control.label + ": " + text : text
                Accessible.checked: current
                Accessible.onPressAction: clicked()

                Keys.onLeftPressed: control.choose(index - 1)
                Keys.onRightPressed: control.choose(index + 1)

                TextMetrics {
                    id: strongWidth
                    font: Qt.font({
                        family: Theme.type.small.family, pixelSize: Theme.type.small.size, weight: Theme.type.strong.weight
                    })
                    text: word.text
                }
                contentItem: Text {
                    text: word.text
                    textFormat: Text.PlainText
                    font: word.current ? strongWidth.font : word.font
                    color: !control.enabled ? Theme.textDisabled
                        : word.current ? Theme.accentSoftInk : word.hovered ? Theme.text : Theme.text2
                    horizontalAlignment: Text.AlignHCenter
                    verticalAlignment: Text.AlignVCenter
                }
                background: Rectangle {
                    radius: Theme.radius.bar
                    color: word.current ? Theme.accentSoft
                        : word.down ? Theme.pressed : word.hovered ? Theme.hover : "transparent"
                    border.width: word.current ? Theme.softEdge : 0
                    border.color: Theme.border

                    FocusRing {
                        visible: word.visualFocus
                        targetRadius: parent.radius
                    }
                }
            }
        }
    }
}
