import QtQuick
import Colibri.Ui

// One field of the status strip: a hairline before it, then its parts.
Row {
    id: field

    property bool first: false
    property bool available: true
    default property alias parts: inner.data
    // width it takes when shown; also known while it is not
    readonly property real wanted: available ? inner.implicitWidth + (first ? 0 : Theme.size.hairline + 2 * gap) : 0

    readonly property real gap: Theme.space.s3 + Theme.space.hair

    height: Theme.type.caption.lineHeight

    Item {
        visible: !field.first
        width: 2 * field.gap + Theme.size.hairline
        height: parent.height

        Hairline {
            x: field.gap
            vertical: true
            height: parent.height
        }
    }
    Row {
        id: inner
        height: parent.height
        spacing: Theme.space.s2
    }
}
