"""No file holds a path that exists on one person's machine only."""

import re

import tree

PATHS = re.compile(r"(?<![\w.$}/*-])(/(?:work|root|home/[a-z]\w*|Users/\w+|tmp/\w+)(?:/|\b)|[A-Z]:\\Users\\)")
# Third-party data: its strings are not ours to change.
DATA = ("tests/golden", "resources/demo-model")


def check(root):
    findings = []
    for file in tree.files(root):
        content = tree.text(root / file)
        if content is None or (tree.under(file, *DATA) and file.suffix != ".md"):
            continue
        for number, line in enumerate(content.splitlines(), 1):
            match = PATHS.search(line)
            if match:
                findings.append(f"{file}:{number}: machine path {match.group(0)!r}")
    return findings
