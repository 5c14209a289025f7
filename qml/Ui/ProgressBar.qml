import QtQuick
import QtQuick.Templates as T
import Colibri.Ui

// How much of a known whole is done. It steps when data comes; what has no known whole is told in words instead.
T.ProgressBar {
    id: bar

    property string label
    // The value in words, for screen readers: 102 of 167 GB.
    property string valueText
    // positions from 0 to 1 with a tick, such as the passes of a prompt
    property var ticks: []
    property color fill: Theme.accent

    implicitWidth: Theme.scaled(200)
    implicitHeight: Theme.size.progress

    Accessible.role: Accessible.ProgressBar
    Accessible.name: label
    Accessible.description: valueText.length > 0 ? valueText : Format.percent(visualPosition)

    background: Rectangle {
        color: Theme.sunken
        border.width: Theme.size.hairline
        border.color: Theme.outline
    }
    contentItem: Item {
        Rectangle {
            x: Theme.size.hairline
            y: Theme.size.hairline
            width: Math.round((parent.width - 2 * x) * bar.visualPosition)
            height: parent.height - 2 * y
            color: bar.fill
        }
        Repeater {
            model: bar.ticks

            Rectangle {
                required property real modelData

                x: Math.round((parent.width - width) * modelData)
                width: Theme.size.hairline
                height: parent.height
                color: Theme.outline
            }
        }
    }
}
