"""changelog/ holds a fragment for each change: NNNN-name.md with bullets under headings that changelog/README.md names."""

import re

import tree

NAME = re.compile(r"^\d{4}-[a-z0-9-]+\.md$")
HEADINGS = {"Added", "Changed", "Fixed", "Removed", "Security"}


def check(root):
    findings = []
    fragments = [file for file in tree.files(root) if tree.under(file, "changelog") and file.name != "README.md"]
    if not fragments:
        findings.append("changelog/: no fragment")
    for file in fragments:
        if not NAME.match(file.name):
            findings.append(f"{file}: the name must look like 0001-short-name.md")
            continue
        lines = (root / file).read_text().splitlines()
        headings = [line[3:].strip() for line in lines if line.startswith("## ")]
        if not headings or not any(line.startswith("- ") for line in lines):
            findings.append(f"{file}: needs a heading (## Added, ...) with bullets")
        findings += [f"{file}: unknown heading '{name}'" for name in headings if name not in HEADINGS]
    return findings
