import QtQml

// Type roles of the visual guide, section 3.
QtObject {
    id: roles

    // text size, 0.8 to 2
    property real factor: 1
    property string sans: "Inter Tabular"
    property string mono: "JetBrains Mono"

    // page title, one a page
    readonly property TypeRole display: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 22
        baseLineHeight: 28
        weight: 600
    }
    // card and section title
    readonly property TypeRole title: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 16
        baseLineHeight: 22
        weight: 600
    }
    // the one large number of a tile
    readonly property TypeRole figure: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 22
        baseLineHeight: 28
        weight: 600
    }
    // chat text
    readonly property TypeRole prose: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 15
        baseLineHeight: 24
        weight: 400
    }
    // everything else
    readonly property TypeRole body: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 14
        baseLineHeight: 20
        weight: 400
    }
    // values, emphasised label
    readonly property TypeRole strong: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 14
        baseLineHeight: 20
        weight: 600
    }
    // table cells, secondary text, controls in dense rows
    readonly property TypeRole small: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 13
        baseLineHeight: 18
        weight: 400
    }
    // axis labels, status strip, hints; the smallest size
    readonly property TypeRole caption: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 12
        baseLineHeight: 16
        weight: 400
    }
    // code, addresses, keys, file names
    readonly property TypeRole code: TypeRole {
        family: roles.mono
        factor: roles.factor
        baseSize: 13
        baseLineHeight: 20
        weight: 400
    }
    // words on buttons, heads of tables
    readonly property TypeRole button: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 14
        baseLineHeight: 20
        weight: 500
    }
    readonly property TypeRole buttonCompact: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 13
        baseLineHeight: 18
        weight: 500
    }
    // figures in the status strip and in tables
    readonly property TypeRole captionStrong: TypeRole {
        family: roles.sans
        factor: roles.factor
        baseSize: 12
        baseLineHeight: 16
        weight: 600
    }
}
