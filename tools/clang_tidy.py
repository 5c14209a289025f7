#!/usr/bin/env python3
"""clang-tidy over the project's sources, within a time limit.

All of them take a quarter of an hour on two cores, so CI gives a limit: what the last commit touched comes first, the rest in an
order that follows from the commit, so that every file has its turn. Without --minutes all files are checked.

Usage: tools/clang_tidy.py --build FOLDER [--minutes N] [--jobs N]     (FOLDER holds compile_commands.json)
Exit 0: no finding in the files that were checked; 1: findings.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

FOLDERS = ("engine", "app", "qml")


def git(*arguments):
    return subprocess.run(["git", "-c", "safe.directory=*", *arguments], capture_output=True, text=True, check=False).stdout


def ordered(files):
    """Files of the last commit first, then by a hash of name and commit."""
    commit = git("rev-parse", "HEAD").strip()
    touched = set(git("show", "--name-only", "--format=", "HEAD").split())
    return sorted(files, key=lambda f: (f not in touched, hashlib.sha256((commit + f).encode()).hexdigest()))


def sources(build, root):
    names = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if root in path.parents and path.relative_to(root).parts[0] in FOLDERS:
            names.add(str(path.relative_to(root)))
    return names


def check(build, name):
    run = subprocess.run(["clang-tidy-14", "-quiet", "-p", str(build), "-extra-arg=-Wno-unknown-warning-option", name],
                         capture_output=True, text=True, check=False)
    findings = re.search(r"\b(error|warning): ", run.stdout) is not None
    return run.stdout if findings or run.returncode != 0 else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    root = Path.cwd().resolve()
    files = ordered(sources(options.build, root))
    if not files:
        print(f"{options.build} names no source of this folder.")
        return 1
    end = time.monotonic() + options.minutes * 60 if options.minutes else float("inf")
    checked = 0
    found = []

    def one(name):
        return None if time.monotonic() > end else check(options.build, name)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, text in zip(files, pool.map(one, files)):
            if text is None:
                continue
            checked += 1
            if text:
                found.append(name)
                print(text)
    print(f"clang-tidy: {checked} of {len(files)} files checked, {len(found)} with findings")
    return 1 if found or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
