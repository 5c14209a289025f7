.pragma library

// Every visible item below and with `root`.
function all(root) {
    let found = []
    const pending = [root]
    while (pending.length > 0) {
        const item = pending.pop()
        if (!item.visible)
            continue
        found.push(item)
        for (let i = 0; i < item.children.length; ++i)
            pending.push(item.children[i])
    }
    return found
}

// What the Tab key or a click reaches.
function focusable(root) {
    return all(root).filter(item => item.enabled && (item.activeFocusOnTab || item.focusPolicy > 0))
}

function named(item) {
    return item.objectName || item.toString()
}
