import QtQuick
import QtQuick.Templates as T

// A hairline between groups of a menu.
T.MenuSeparator {
    implicitHeight: 2 * Theme.space.s1 + Theme.size.hairline
    topPadding: Theme.space.s1
    bottomPadding: Theme.space.s1
    contentItem: Hairline {}
}
