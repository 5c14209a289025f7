"""Everything bundled that is not plainly the project's own has a row in resources/licences/README.md, with its text."""

import re

import tree

TABLE = "resources/licences/README.md"
ROW = re.compile(r"^\|\s*`([^`]+)`\s*\|(?:[^|]*\|)*?\s*\[[^\]]*\]\(([^)]+)\)\s*\|", re.MULTILINE)
FONTS = {".ttf", ".otf", ".woff", ".woff2"}
FOLDERS = ("resources/demo-model", "tests/golden/tokenizer", "tests/golden/encoding")


def check(root):
    table = root / TABLE
    if not table.is_file():
        return [f"{TABLE}: missing"]
    rows = dict(ROW.findall(table.read_text()))
    findings = []
    for covered, licence in rows.items():
        if not (root / covered).exists():
            findings.append(f"{TABLE}: lists {covered}, which is not there")
        if not (table.parent / licence).is_file():
            findings.append(f"{TABLE}: the licence text {licence} is not there")
    for file in tree.files(root):
        if file.suffix.lower() in FONTS or tree.under(file, *FOLDERS):
            name = file.as_posix()
            if not any(name == covered or name.startswith(covered.rstrip("/") + "/") for covered in rows):
                findings.append(f"{name}: bundled, but no row of {TABLE} covers it")
    return findings
