"""Golden data is described: tests/golden/README.md names every folder, and describes none that is missing."""

import re

import tree

FOLDER = "tests/golden"
NAMED = re.compile(r"^\|\s*`([a-z0-9.-]+)/`\s*\|", re.MULTILINE)


def check(root):
    readme = root / FOLDER / "README.md"
    if not readme.is_file():
        return [f"{FOLDER}/README.md: missing"]
    named = set(NAMED.findall(readme.read_text()))
    there = {file.parts[2] for file in tree.files(root) if tree.under(file, FOLDER) and len(file.parts) > 3}
    return ([f"{FOLDER}/README.md: no row for {name}/" for name in sorted(there - named)] +
            [f"{FOLDER}/README.md: {name}/ is described but not there" for name in sorted(named - there)])
