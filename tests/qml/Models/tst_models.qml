import QtQuick
import QtQuick.Controls.Basic
import QtTest
import Colibri.Models
import Colibri.Ui

// The models page: the demo, and a folder that is looked at before it is loaded.
Item {
    width: 1000
    height: 720

    ApplicationWindow {
        visible: true
        width: 1000
        height: 720

        ModelsPage {
            id: page
            anchors.fill: parent
            models: fake.models
        }
    }
    SignalSpy {
        id: chatSpy
        target: page
        signalName: "chatRequested"
    }

    TestCase {
        name: "ModelsPage"
        when: windowShown

        function init() {
            fake.reset()
            tryCompare(fake.models, "modelState", ModelsViewModel.NoModel)
            chatSpy.clear()
        }

        function item(name) {
            const found = findChild(page, name)
            verify(found !== null, name)
            return found
        }

        // A click goes to where the last frame drew the button, so what just changed must have been drawn.
        function press(name) {
            const button = item(name)
            tryVerify(() => button.visible && button.enabled, 5000, name)
            waitForRendering(button, 500)
            mouseClick(button)
        }

        function test_demoLoads() {
            press("tryButton")
            tryCompare(fake.models, "modelState", ModelsViewModel.ModelReady)
            compare(chatSpy.count, 1)
            verify(item("unloadButton").visible)
            press("unloadButton")
            tryCompare(fake.models, "modelState", ModelsViewModel.NoModel)
        }

        function test_aSoundFolder() {
            fake.models.check(fake.demoFolder)
            compare(fake.models.checkState, ModelsViewModel.Checking)
            tryVerify(() => fake.models.checkState === ModelsViewModel.Sound
                || fake.models.checkState === ModelsViewModel.SoundWithRemarks, 20000)
            compare(fake.models.folderName, "demo-model")
            verify(fake.models.facts.length > 4)
            tryVerify(() => item("loadButton").visible)
            fake.models.loadChecked()
            tryCompare(fake.models, "modelState", ModelsViewModel.ModelReady)
        }

        function test_aFolderThatIsNoModel() {
            fake.models.check(fake.otherFolder)
            tryCompare(fake.models, "checkState", ModelsViewModel.Refused, 20000)
            verify(item("verdict").text.includes("cannot be loaded"))
            verify(fake.models.findings.length > 0)
            verify(fake.models.findings[0].message.length > 10)
            verify(!item("loadButton").visible)
            fake.models.loadChecked()
            compare(fake.models.modelState, ModelsViewModel.NoModel)
            fake.models.dismiss()
            tryCompare(item("folderReport"), "visible", false)
        }

        function test_failureIsExplained() {
            fake.refuseToLoad("It needs 4.2 GiB more memory than is free.")
            press("tryButton")
            tryCompare(fake.models, "modelState", ModelsViewModel.ModelFailed)
            tryCompare(item("loadFailure"), "visible", true)
            verify(item("loadFailure").text.includes("4.2 GiB"))
        }
    }
}
