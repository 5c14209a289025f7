import QtQuick
import Colibri.Chat
import Colibri.Ui

// Shows the whole address before anything is opened. What a model wrote is never opened by itself.
Dialog {
    id: dialog

    required property ChatViewModel chat
    property string address

    function ask(link: string) {
        address = chat.addressToShow(link)
        if (address.length > 0)
            open()
    }

    objectName: "linkDialog"
    title: qsTr("Open this address?")
    text: qsTr("The model wrote it. It opens in your browser or mail program.")
    acceptText: qsTr("Open it")
    rejectText: qsTr("Keep it closed")
    onAccepted: chat.openAddress(address)

    Label {
        objectName: "linkAddress"
        width: parent ? parent.width : implicitWidth
        text: dialog.address
        role: Theme.type.code
        wrapMode: Text.WrapAnywhere
    }
}
