"""The README starts with two shell commands: one installs, builds and runs; one runs the tests. Both must exist."""

import os
import pathlib
import subprocess

PRINT = pathlib.Path(__file__).resolve().parents[2] / "scripts/readme-command"


def command(root, number):
    return subprocess.run([str(PRINT), str(number), str(root / "README.md")], check=True, capture_output=True,
                          text=True).stdout.strip()


def check(root):
    if not (root / "README.md").is_file():
        return ["README.md: missing"]
    findings = []
    for number in (1, 2):
        line = command(root, number)
        if not line:
            findings.append(f"README.md: {number - 1} shell commands; it must start with two")
            break
        program = root / line.split()[0]
        if not program.is_file():
            findings.append(f"README.md: '{line}' names no file of the repository")
        elif not os.access(program, os.X_OK):
            findings.append(f"README.md: '{line}' is not executable")
    return findings
