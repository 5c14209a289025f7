import QtQuick
import QtQuick.Layouts
import Colibri.Ui

// A table as a grid: cells is one list, header first; columns holds the alignment of each column.
Rectangle {
    id: table

    required property var columns
    required property var cells

    signal linkActivated(link: string)

    readonly property int columnCount: Math.max(1, columns.length)
    readonly property int rowCount: Math.ceil(cells.length / columnCount)

    implicitHeight: grid.implicitHeight + 2 * Theme.size.hairline
    color: Theme.surface
    border.width: Theme.size.hairline
    border.color: Theme.border

    Accessible.role: Accessible.Table
    Accessible.name: qsTr("Table of %1 rows and %2 columns").arg(rowCount - 1).arg(columnCount)

    GridLayout {
        id: grid
        x: Theme.size.hairline
        y: Theme.size.hairline
        width: table.width - 2 * x
        columns: table.columnCount
        columnSpacing: 0
        rowSpacing: 0

        Repeater {
            model: table.cells

            Rectangle {
                id: cell

                required property int index
                required property string modelData
                readonly property bool isHeader: index < table.columnCount

                Layout.fillWidth: true
                Layout.fillHeight: true
                Layout.preferredWidth: Math.min(words.implicitWidth, table.width / 2) + 2 * Theme.space.s3
                Layout.minimumWidth: Theme.space.s7
                implicitHeight: words.implicitHeight + 2 * Theme.space.inner
                color: isHeader ? Theme.sunken : "transparent"

                Label {
                    id: words
                    x: Theme.space.s3
                    y: Theme.space.inner
                    width: cell.width - 2 * x
                    text: cell.isHeader ? "<b>" + cell.modelData + "</b>" : cell.modelData
                    textFormat: Text.StyledText
                    role: Theme.type.small
                    wrapMode: Text.Wrap
                    horizontalAlignment: table.columns[cell.index % table.columnCount]
                    onLinkActivated: link => table.linkActivated(link)
                }
                Hairline {
                    anchors.bottom: parent.bottom
                    width: parent.width
                    visible: cell.index < table.columnCount * (table.rowCount - 1)
                }
            }
        }
    }
}
