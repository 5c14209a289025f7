"""No source file is longer than 800 lines; over 400 is worth a question, so those are listed."""

import tree

LIMIT = 800
ASK = 400
SUFFIXES = {".cpp", ".h", ".qml", ".py", ".sh", ".cmake", ".def", ".cu", ".js"}


def check(root):
    findings = []
    for file in tree.files(root):
        if file.suffix not in SUFFIXES and file.name != "CMakeLists.txt":
            continue
        content = tree.text(root / file)
        if content is None:
            continue
        lines = content.count("\n")
        if lines > LIMIT:
            findings.append(f"{file}: {lines} lines; the limit is {LIMIT}. Split it by subject")
        elif lines > ASK:
            print(f"note: {file} has {lines} lines")
    return findings
