"""Relative links and pictures in Markdown files lead to files of the repository."""

import re

import tree

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")


def check(root):
    findings = []
    for file in tree.files(root):
        if file.suffix != ".md" or tree.under(file, "tests/golden", "resources/demo-model"):
            continue
        content = CODE.sub("", FENCE.sub("", (root / file).read_text()))
        for target in LINK.findall(content):
            if "://" in target or target.startswith(("#", "mailto:")):
                continue
            path = target.split("#")[0]
            if not (root / file.parent / path).exists():
                findings.append(f"{file}: links to {target}, which is not there")
    return findings
