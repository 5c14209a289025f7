"""Which headers a folder may include.

engine/            no Qt: the engine and `coli` build and run without it
engine/include/    the public headers include one another and the standard library only
app/, qml/         the engine through <colibri/...> alone
app/               QtQuick only in app/main/: services know nothing of pages
"""

import re

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".h", ".cpp", ".hpp", ".cc", ".cu"}
QT = re.compile(r"^(Q[A-Z][A-Za-z]*|Qt[A-Z][A-Za-z]*/.*|q[a-z]+\.h)$")
QT_QUICK = re.compile(r"^(QtQuick.*|QQuick[A-Za-z]*)$")
STANDARD = re.compile(r"^[a-z_]+(\.h)?$")


def check(root):
    findings = []
    for file in tree.files(root):
        if file.suffix not in SOURCES or not tree.under(file, "engine", "app", "qml", "tests/engine"):
            continue
        content = tree.text(root / file) or ""
        for match in INCLUDE.finditer(content):
            problem = judge(root, file, match.group(1), match.group(2))
            if problem:
                line = content.count("\n", 0, match.start()) + 1
                findings.append(f"{file}:{line}: {problem}")
    return findings


def judge(root, file, quote, header):
    if tree.under(file, "engine", "tests/engine") and QT.match(header):
        return f"includes Qt ({header}); the engine is built without it"
    if tree.under(file, "engine/include"):
        public = header.startswith("colibri/") or (quote == "<" and STANDARD.match(header))
        return None if public else f"a public header includes {header}, which is not public"
    if tree.under(file, "app", "qml") and private_to_engine(root, file, header):
        return f"includes the engine's private {header}; app/ and qml/ see <colibri/...> only"
    if tree.under(file, "app") and not tree.under(file, "app/main") and QT_QUICK.match(header):
        return f"includes {header}; QtQuick in app/ is for app/main alone"
    return None


def private_to_engine(root, file, header):
    # app/ has folders with the engine's names too (telemetry, for one), so a file of their own comes first.
    own = [root / file.parent / header, root / "app" / header, root / "qml" / header]
    if any(path.is_file() for path in own):
        return False
    return "/" in header and ((root / "engine" / header).is_file() or header.startswith("engine/"))
