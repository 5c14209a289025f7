import QtQuick
import QtQuick.Templates as T

// A word or sentence beside a control: after half a second of hovering, at once on keyboard focus.
T.ToolTip {
    id: tip

    // The control that it explains.
    property Item target: parent as Item

    delay: Theme.motion.toolTipDelay
    x: target ? Math.round((target.width - width) / 2) : 0
    y: target ? -height - Theme.space.s2 : 0
    margins: Theme.space.s2
    topPadding: Theme.space.inner
    bottomPadding: Theme.space.inner
    leftPadding: Theme.space.s3
    rightPadding: Theme.space.s3
    implicitWidth: Math.min(Theme.size.toolTipMax, words.implicitWidth + leftPadding + rightPadding)
    implicitHeight: words.implicitHeight + topPadding + bottomPadding
    closePolicy: T.Popup.CloseOnEscape | T.Popup.CloseOnPressOutsideParent | T.Popup.CloseOnReleaseOutsideParent

    contentItem: Label {
        id: words
        text: tip.text
        role: Theme.type.caption
        wrapMode: Text.Wrap
    }
    background: Rectangle {
        color: Theme.surface
        border.width: Theme.size.hairline
        border.color: Theme.outline
        radius: Theme.radius.control
    }
}
