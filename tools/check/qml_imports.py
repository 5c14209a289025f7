"""What a QML file may import.

Qt           only the modules below, each with its package in scripts/packages/run.txt (in Debian they do not bring one another)
Colibri.*    qml/Ui imports no other module of the project; a page imports Ui and what is not a page; Shell imports pages
folders      never by path ("../Other"): modules have names
"""

import re

import tree

PACKAGES = {
    "QtQml": "qml6-module-qtquick", "QtQml.Models": "qml6-module-qtquick", "QtQml.WorkerScript": "qml6-module-qtqml-workerscript",
    "QtQuick": "qml6-module-qtquick", "QtQuick.Window": "qml6-module-qtquick-window",
    "QtQuick.Layouts": "qml6-module-qtquick-layouts", "QtQuick.Shapes": "qml6-module-qtquick-shapes",
    "QtQuick.Templates": "qml6-module-qtquick-templates", "QtQuick.Controls": "qml6-module-qtquick-controls",
    "QtQuick.Controls.Basic": "qml6-module-qtquick-controls", "QtQuick.Dialogs": "qml6-module-qtquick-dialogs",
    "QtCore": "qml6-module-qtcore", "Qt.labs.folderlistmodel": "qml6-module-qt-labs-folderlistmodel",
}
# Modules used by the C++ side of another one.
INDIRECT = {"QtQuick.Controls": ["qml6-module-qtquick-templates", "qml6-module-qtquick-window", "qml6-module-qtquick-layouts",
                                 "qml6-module-qtqml-workerscript"],
            "QtQuick.Dialogs": ["qml6-module-qt-labs-folderlistmodel"]}
IMPORT = re.compile(r'^[ \t]*import[ \t]+("[^"]*"|[A-Za-z][\w.]*)', re.MULTILINE)
URI = re.compile(r"\bURI\s+([A-Za-z][\w.]*)")
NOT_PAGES = {"Ui"}


def check(root):
    findings = []
    packages = (root / "scripts/packages/run.txt").read_text().split() if (root / "scripts/packages/run.txt").is_file() else []
    uris = {}
    for file in tree.files(root):
        if tree.under(file, "qml") and file.name == "CMakeLists.txt" and len(file.parts) == 3:
            uris.update({uri: file.parts[1] for uri in URI.findall((root / file).read_text())})
    for file in tree.files(root):
        if file.suffix != ".qml" or not tree.under(file, "qml"):
            continue
        content = (root / file).read_text()
        for match in IMPORT.finditer(content):
            problem = judge(file.parts[1], match.group(1), uris, packages)
            if problem:
                line = content.count("\n", 0, match.start()) + 1
                findings.append(f"{file}:{line}: {problem}")
    return findings


def judge(folder, module, uris, packages):
    if module.startswith('"'):
        return None if module.endswith('.js"') else f"imports the folder {module}; import its module by name"
    if module in PACKAGES:
        needed = [PACKAGES[module]] + INDIRECT.get(module, []) + INDIRECT.get(module.rsplit(".", 1)[0], [])
        missing = [name for name in needed if name not in packages]
        return f"imports {module}, but scripts/packages/run.txt lacks {', '.join(missing)}" if missing else None
    if module.split(".")[0].startswith("Qt"):
        return f"imports {module}, which is not among the Qt modules of the project (tools/check/qml_imports.py)"
    target = uris.get(module)
    if target is None or target == folder or target in NOT_PAGES:
        return f"Ui imports {module}; controls know no page" if folder == "Ui" and target != folder else None
    if folder == "Ui":
        return f"Ui imports {module}; controls know no page"
    return None if folder == "Shell" else f"a page imports another page's module {module}"
