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

// The word after a fence as a name: "rust" is Rust, "cpp" is C++.
function languageName(word) {
    const names = {
        cpp: "C++", cxx: "C++", csharp: "C#", js: "JavaScript", javascript: "JavaScript", ts: "TypeScript",
        typescript: "TypeScript", py: "Python", sh: "Shell", bash: "Bash", json: "JSON", html: "HTML", css: "CSS",
        sql: "SQL", yaml: "YAML", yml: "YAML", toml: "TOML", xml: "XML", qml: "QML", cmake: "CMake", md: "Markdown"
    }
    const lower = word.toLowerCase()
    return names[lower] || word.charAt(0).toUpperCase() + word.slice(1)
}
