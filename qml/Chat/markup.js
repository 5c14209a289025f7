.pragma library

// Markup of a block (only <b> <i> <del> <code> <br> <a href>) as the rich text of a TextEdit. Everything else in it is
// escaped, so a tag that is found here is one of those.
function richText(markup, lineHeight, codeFamily, codeSize, linkColor) {
    return '<p style="margin-top:0px; margin-bottom:0px; line-height:' + lineHeight + 'px">'
        + markup
            .replace(/<code>/g, '<span style="font-family:\'' + codeFamily + '\'; font-size:' + codeSize + 'px">')
            .replace(/<\/code>/g, "</span>")
            .replace(/<a href=/g, '<a style="color:' + linkColor + '" href=')
            .replace(/<del>/g, "<s>").replace(/<\/del>/g, "</s>")
        + "</p>"
}
