import QtQuick
import QtQuick.Templates as T

// Several lines of text; grows with them. `framed: false` leaves edge and ground to what it lies in (the composer).
T.TextArea {
    id: control

    property string label
    property bool framed: true
    property TypeRole role: Theme.type.body

    implicitWidth: Theme.scaled(320)
    implicitHeight: Math.max(contentHeight, role.lineHeight) + topPadding + bottomPadding
    leftPadding: framed ? Theme.space.field : 0
    rightPadding: leftPadding
    topPadding: framed ? Theme.space.inner : 0
    bottomPadding: topPadding
    hoverEnabled: true
    selectByMouse: true
    wrapMode: TextEdit.Wrap
    textFormat: TextEdit.PlainText
    font: role.font
    color: enabled ? Theme.text : Theme.textDisabled
    selectionColor: Theme.accent
    selectedTextColor: Theme.accentInk
    placeholderTextColor: enabled ? Theme.text2 : Theme.textDisabled

    Accessible.role: Accessible.EditableText
    Accessible.name: label.length > 0 ? label : placeholderText
    Accessible.multiLine: true
    Accessible.editable: !readOnly
    Accessible.readOnly: readOnly

    // Tab leaves the field; a tab character can be pasted.
    Keys.priority: Keys.BeforeItem
    Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
    Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)

    cursorDelegate: Caret {
        shown: control.cursorVisible
    }

    Text {
        x: control.leftPadding
        y: control.topPadding
        width: control.width - control.leftPadding - control.rightPadding
        text: control.placeholderText
        textFormat: Text.PlainText
        font: control.font
        color: control.placeholderTextColor
        elide: Text.ElideRight
        visible: control.length === 0 && control.preeditText.length === 0
        Accessible.ignored: true
    }

    background: Loader {
        active: control.framed
        sourceComponent: FieldFrame {
            field: control
            hovered: control.hovered
            focusRing: control.activeFocus
        }
    }
}
