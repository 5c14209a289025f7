import QtQuick

// Text in one role of the theme: Label { role: Theme.type.caption; color: Theme.text2 }. Plain text unless said otherwise.
Text {
    id: label

    property TypeRole role: Theme.type.body

    font: role.font
    color: enabled ? Theme.text : Theme.textDisabled
    linkColor: Theme.accent
    textFormat: Text.PlainText
    lineHeightMode: Text.FixedHeight
    lineHeight: role.lineHeight
    topPadding: role.inset
    bottomPadding: -role.inset

    Accessible.role: Accessible.StaticText
    Accessible.name: text
    Accessible.ignored: text.length === 0
}
