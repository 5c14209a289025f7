import QtQuick
import QtQuick.Templates as T
import Colibri.Ui

// Model and state, hit rate, drive, speed, memory; on every page. Where they do not fit, memory goes first, then the
// drive's gauge, then the state word; the model's name and its speed stay. What is not known is not shown.
// `status` has modelName, stateText, state (none, loading, ready, working, stopped), hitRate, bytesPerSecond,
// ceilingBytesPerSecond, tokensPerSecond (NaN when unknown), memoryBytes and memoryBudgetBytes (negative when unknown).
T.AbstractButton {
    id: strip

    required property QtObject status
    // There is a page that explains the figures; the whole strip then opens it.
    property bool opens: false

    signal problemRequested()

    readonly property var figures: status
    readonly property string state_: figures.state
    readonly property bool loaded: state_ !== "none" && state_ !== ""
    readonly property bool stopped: state_ === "stopped"
    readonly property bool running: loaded && !stopped

    readonly property real room: availableWidth
    readonly property real all: name.wanted + (word.text.length > 0 ? word.implicitWidth + Theme.space.s2 : 0) + hits.wanted
        + drive.wanted + speed.wanted + memory.wanted + problem.wanted
    readonly property real gaugeWidth: drive.available && drive.measured ? gauge.width + Theme.space.s2 : 0
    readonly property bool memoryFits: all <= room
    readonly property bool gaugeFits: all - memory.wanted <= room
    readonly property bool wordFits: all - memory.wanted - gaugeWidth <= room

    implicitHeight: Theme.size.statusStrip
    leftPadding: Theme.space.s3 + Theme.space.hair
    rightPadding: Theme.space.s3 + Theme.space.hair
    hoverEnabled: opens
    focusPolicy: opens ? Qt.StrongFocus : Qt.NoFocus

    Accessible.role: opens ? Accessible.Button : Accessible.StatusBar
    Accessible.name: sentence()
    Accessible.onPressAction: if (opens) clicked()

    Keys.onReturnPressed: if (opens) clicked()
    Keys.onEnterPressed: if (opens) clicked()

    function sentence() : string {
        const parts = [loaded && figures.modelName.length > 0 ? figures.modelName + ", " + figures.stateText : word.text]
        if (hits.available)
            parts.push(qsTr("hit rate %1").arg(hitValue.text))
        if (drive.available)
            parts.push(qsTr("drive %1").arg(driveValue.text))
        if (speed.available)
            parts.push(speedValue.text)
        if (memory.available)
            parts.push(qsTr("memory %1").arg(memoryValue.text))
        return parts.join("; ")
    }

    background: Rectangle {
        color: strip.opens && strip.down ? Theme.pressed : strip.opens && strip.hovered ? Theme.hover : Theme.sunken

        Hairline {
            width: parent.width
        }
        FocusRing {
            anchors.margins: 0
            radius: 0
            visible: strip.visualFocus
        }
    }
    contentItem: Item {
        clip: true

        Row {
            anchors.verticalCenter: parent.verticalCenter

            StripField {
                id: name
                first: true

                Item {
                    width: strip.stopped ? octagon.width : Theme.size.statusDot
                    height: parent.height

                    Rectangle {
                        objectName: "statusDot"
                        anchors.verticalCenter: parent.verticalCenter
                        width: Theme.size.statusDot
                        height: width
                        radius: width / 2
                        visible: !strip.stopped
                        color: !strip.loaded ? Theme.outline : strip.state_ === "loading" ? Theme.accent : Theme.ok
                    }
                    Icon {
                        id: octagon
                        anchors.verticalCenter: parent.verticalCenter
                        name: "error"
                        size: Theme.size.iconChip
                        visible: strip.stopped
                        color: Theme.error
                    }
                }
                Label {
                    objectName: "statusName"
                    role: Theme.type.captionStrong
                    visible: strip.loaded && text.length > 0
                    text: strip.figures.modelName
                    Accessible.ignored: true
                }
                Label {
                    id: word
                    objectName: "statusWord"
                    role: Theme.type.caption
                    color: Theme.text2
                    visible: text.length > 0 && (strip.wordFits || !strip.loaded)
                    text: strip.figures.stateText.length > 0 || strip.loaded ? strip.figures.stateText
                        : qsTr("No model loaded")
                    Accessible.ignored: true
                }
            }
            StripField {
                id: problem
                available: strip.stopped
                visible: available

                StripLink {
                    anchors.verticalCenter: parent.verticalCenter
                    text: qsTr("Show what happened")
                    onClicked: strip.problemRequested()
                }
            }
            StripField {
                id: hits
                available: strip.running && strip.figures.hitRate >= 0
                visible: available

                Label {
                    role: Theme.type.caption
                    color: Theme.text2
                    text: qsTr("Hit rate")
                    Accessible.ignored: true
                }
                StripValue {
                    id: hitValue
                    objectName: "statusHitRate"
                    text: Format.percent(strip.figures.hitRate)
                    longest: Format.percent(1)
                }
            }
            StripField {
                id: drive

                readonly property bool measured: strip.figures.ceilingBytesPerSecond > 0

                available: strip.running && strip.figures.bytesPerSecond >= 0
                visible: available

                Label {
                    role: Theme.type.caption
                    color: Theme.text2
                    text: qsTr("Drive")
                    Accessible.ignored: true
                }
                Meter {
                    id: gauge
                    objectName: "statusGauge"
                    anchors.verticalCenter: parent.verticalCenter
                    width: Theme.size.miniGaugeW
                    height: Theme.size.miniGaugeH
                    visible: drive.measured && strip.gaugeFits
                    parts: drive.measured
                        ? [{share: strip.figures.bytesPerSecond / strip.figures.ceilingBytesPerSecond, color: Theme.accent}] : []
                }
                StripValue {
                    id: driveValue
                    objectName: "statusDrive"
                    text: drive.measured ? Format.rateOf(strip.figures.bytesPerSecond, strip.figures.ceilingBytesPerSecond)
                        : Format.rate(strip.figures.bytesPerSecond)
                    longest: drive.measured
                        ? Format.rateOf(strip.figures.ceilingBytesPerSecond, strip.figures.ceilingBytesPerSecond)
                        : Format.rate(8.8e9)
                }
            }
            StripField {
                id: speed
                available: strip.running && strip.figures.tokensPerSecond >= 0
                visible: available

                StripValue {
                    id: speedValue
                    objectName: "statusSpeed"
                    text: Format.speed(strip.figures.tokensPerSecond)
                    longest: Format.speed(strip.figures.tokensPerSecond < 10 ? 0.88 : 888)
                }
            }
            StripField {
                id: memory
                available: !strip.stopped && strip.figures.memoryBytes >= 0
                visible: available && strip.memoryFits

                Label {
                    role: Theme.type.caption
                    color: Theme.text2
                    text: qsTr("Memory")
                    Accessible.ignored: true
                }
                StripValue {
                    id: memoryValue
                    objectName: "statusMemory"
                    text: strip.running && strip.figures.memoryBudgetBytes > 0
                        ? Format.memoryOf(strip.figures.memoryBytes, strip.figures.memoryBudgetBytes)
                        : Format.memory(strip.figures.memoryBytes)
                }
            }
        }
    }
}
