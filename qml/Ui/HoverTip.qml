import QtQuick

// Puts a tooltip on the item it lies in, without building one before it is needed. It also works on a disabled control,
// whose reason it then tells.
Loader {
    id: tip

    property string text
    property bool shown: false

    active: shown && text.length > 0
    sourceComponent: ToolTip {
        target: tip.parent
        parent: tip.parent
        text: tip.text
        visible: tip.shown
    }
}
