import QtQuick
import QtQuick.Dialogs
import QtQuick.Layouts
import QtQuick.Templates as T
import Colibri.Models
import Colibri.Ui

// The model that is loaded, the demo, and a folder of one's own with what was found in it.
Item {
    id: page

    required property ModelsViewModel models

    // The user wants to go on to the chat.
    signal chatRequested()

    function openFolder() {
        picker.open()
    }

    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Models")

    Flickable {
        id: scroller
        anchors.fill: parent
        contentWidth: width
        contentHeight: column.implicitHeight + column.y + Theme.space.s5
        boundsBehavior: Flickable.StopAtBounds
        clip: true

        T.ScrollBar.vertical: ScrollBar {}

        ColumnLayout {
            id: column
            x: Theme.space.s5
            y: Theme.space.s4
            width: scroller.width - 2 * x
            spacing: Theme.space.s3

            Label {
                Layout.fillWidth: true
                Layout.topMargin: Theme.space.s2
                text: qsTr("Models")
                role: Theme.type.display
                Accessible.role: Accessible.Heading
            }
            Label {
                Layout.fillWidth: true
                text: qsTr("Colibri keeps what fits in memory and reads the rest from the drive while it answers.")
                color: Theme.text2
                wrapMode: Text.Wrap
            }
            Banner {
                objectName: "loadFailure"
                Layout.fillWidth: true
                visible: page.models.modelState === ModelsViewModel.ModelFailed
                kind: Banner.Error
                text: page.models.failureTitle + " " + page.models.failureText
                actionText: qsTr("Try again")
                actionIcon: "retry"
                onAction: page.models.retry()
            }
            GridLayout {
                Layout.fillWidth: true
                columns: Theme.effectiveWidth(page.width) < Theme.size.firstWindowW / 2 ? 1 : 2
                columnSpacing: Theme.space.s3
                rowSpacing: Theme.space.s3

                LoadedCard {
                    Layout.fillWidth: true
                    Layout.fillHeight: true
                    Layout.preferredWidth: 2
                    models: page.models
                    onChatRequested: page.chatRequested()
                }
                DemoCard {
                    Layout.fillWidth: true
                    Layout.fillHeight: true
                    Layout.preferredWidth: 1
                    models: page.models
                    onChatRequested: page.chatRequested()
                }
            }
            RowLayout {
                Layout.fillWidth: true
                spacing: Theme.space.s3

                Button {
                    objectName: "openFolderButton"
                    iconName: "folder"
                    text: qsTr("Open a folder")
                    onClicked: page.openFolder()
                }
                Label {
                    Layout.fillWidth: true
                    text: qsTr("Already have the files? They are used where they are; nothing is copied or converted.")
                    role: Theme.type.small
                    color: Theme.text2
                    wrapMode: Text.Wrap
                }
            }
            FolderReport {
                objectName: "folderReport"
                Layout.fillWidth: true
                visible: page.models.checkState !== ModelsViewModel.NothingChecked
                models: page.models
            }
        }
    }
    FolderDialog {
        id: picker
        title: qsTr("Folder with config.json and the safetensors files")
        onAccepted: page.models.check(selectedFolder)
    }
}
