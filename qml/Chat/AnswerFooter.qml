import QtQuick
import Colibri.Ui

// What an answer cost: one line, and where the time went. Older answers show the line alone until they are hovered.
Item {
    id: footer

    required property var facts
    required property bool latest

    signal copyRequested()

    readonly property var split: Theme.tables.timeSplit.map(part => Object.assign({}, part, {
        value: facts.split[part.key], text: words(facts.split[part.key])
    }))
    readonly property bool unfolded: latest || pointer.hovered || copy.activeFocus

    implicitHeight: column.implicitHeight

    // A small model's times would all be 0.0 s.
    function words(seconds: real) : string {
        return seconds < 1 ? qsTr("%1\u00a0ms").arg(Format.count(Math.round(1000 * seconds))) : Format.duration(seconds)
    }

    HoverHandler {
        id: pointer
    }
    Column {
        id: column
        width: footer.width
        spacing: Theme.space.s2

        Item {
            width: parent.width
            height: Math.max(line.implicitHeight, copy.height)

            Flow {
                id: line
                anchors.verticalCenter: parent.verticalCenter
                width: copy.x - Theme.space.s2

                Label {
                    visible: footer.facts.tokensPerSecond > 0
                    text: Format.speed(footer.facts.tokensPerSecond)
                    role: Theme.type.captionStrong
                }
                Label {
                    text: (footer.facts.tokensPerSecond > 0 ? " · " : "") + [
                        Format.counted(footer.facts.tokens, qsTr("token"), qsTr("tokens")),
                        qsTr("first token after %1").arg(footer.words(footer.facts.firstTokenSeconds)),
                        qsTr("%1 in all").arg(footer.words(footer.facts.totalSeconds)),
                        footer.facts.finish
                    ].join(" · ")
                    role: Theme.type.caption
                    color: Theme.text2
                }
            }
            IconButton {
                id: copy
                anchors.right: parent.right
                compact: true
                iconName: "copy"
                text: qsTr("Copy the answer")
                onClicked: footer.copyRequested()
            }
        }
        SplitBar {
            width: parent.width
            visible: footer.unfolded && footer.facts.totalSeconds > 0
            parts: footer.split
            label: qsTr("Where the time went")
        }
    }
}
