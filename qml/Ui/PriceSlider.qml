import QtQuick
import QtQuick.Layouts

// A slider with its name, its value and one line that says what the position costs. A click on the value, or F2, turns it into a field.
ColumnLayout {
    id: price

    required property string label
    // The value in words: 16,384 tokens.
    required property string valueText
    property string caption
    // The caption is a refusal: the position is not possible.
    property bool refused: false
    property alias from: slider.from
    property alias to: slider.to
    property alias value: slider.value
    property alias stepSize: slider.stepSize
    property alias limit: slider.limit
    property string disabledReason

    signal moved()

    spacing: Theme.space.hair

    RowLayout {
        Layout.fillWidth: true
        spacing: Theme.space.s2

        Label {
            Layout.fillWidth: true
            text: price.label
            role: Theme.type.small
            color: Theme.text
            elide: Text.ElideRight
        }
        Label {
            visible: !field.visible
            text: price.valueText
            role: Theme.type.strong

            TapHandler {
                enabled: price.enabled
                onTapped: price.edit()
            }
        }
        TextField {
            id: field
            visible: false
            compact: true
            label: price.label
            implicitWidth: Theme.scaled(112)
            horizontalAlignment: TextInput.AlignRight
            inputMethodHints: Qt.ImhFormattedNumbersOnly
            onAccepted: price.finishEdit(true)
            onActiveFocusChanged: if (!activeFocus && visible) price.finishEdit(false)
            Keys.onEscapePressed: price.finishEdit(false)
        }
    }
    Slider {
        id: slider
        Layout.fillWidth: true
        implicitHeight: Theme.size.switchH
        label: price.label
        valueText: price.valueText
        disabledReason: price.disabledReason
        onMoved: price.moved()
        Keys.onPressed: event => {
            if (event.key === Qt.Key_F2) {
                event.accepted = true
                price.edit()
            }
        }
    }
    Label {
        Layout.fillWidth: true
        text: !price.enabled && price.disabledReason.length > 0 ? price.disabledReason : price.caption
        role: Theme.type.caption
        color: price.refused ? Theme.error : Theme.text2
        wrapMode: Text.Wrap
    }

    function edit() {
        field.text = Number(value).toLocaleString(Qt.locale(), "f", Number.isInteger(value) ? 0 : 1)
        field.visible = true
        field.forceActiveFocus(Qt.OtherFocusReason)
        field.selectAll()
    }

    function finishEdit(take: bool) {
        field.visible = false
        slider.forceActiveFocus(Qt.OtherFocusReason)
        if (!take)
            return
        let typed = NaN
        try {
            typed = Number.fromLocaleString(Qt.locale(), field.text)
        } catch (error) {
            return // not a number: the value stays
        }
        if (!Number.isNaN(typed))
            slider.moveTo(typed)
    }
}
