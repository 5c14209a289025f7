#!/usr/bin/env python3
"""Checks of the repository's own rules: `run.py [--root FOLDER] [CHECK...]`, all of them by default.

Each check is a module beside this file with `check(root)`, which returns one sentence a finding. Exit 1 when there is one.
"""

import argparse
import importlib
import pathlib
import sys

CHECKS = ["includes", "qml_imports", "file_length", "machine_paths", "readme_commands", "changelog", "licences", "goldens",
          "doc_links", "python_sources"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--list", action="store_true", help="print the names of the checks")
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(CHECKS))
        return 0
    unknown = sorted(set(arguments.checks) - set(CHECKS))
    if unknown:
        parser.error(f"no such check: {', '.join(unknown)}")
    failed = 0
    for name in arguments.checks or CHECKS:
        findings = importlib.import_module(name).check(arguments.root)
        for finding in findings:
            print(f"{name}: {finding}")
        failed += len(findings)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
