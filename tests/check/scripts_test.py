"""The scripts behind the README's commands: they parse, and what they say where they cannot go on is true and complete."""

import argparse
import pathlib
import os
import subprocess
import sys
import tempfile
import unittest


class Scripts(unittest.TestCase):
    root = pathlib.Path()

    def scripts(self):
        return [self.root / name for name in ("scripts/start", "scripts/test", "scripts/common.sh",
                                              "scripts/readme-command", ".ci/run", "tools/bare_debian.sh")]

    def test_they_parse(self):
        for script in self.scripts():
            run = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stderr), (0, ""), script)

    def test_package_lists_are_sorted_and_without_duplicates(self):
        for path in sorted((self.root / "scripts/packages").glob("*.txt")):
            names = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
            self.assertEqual(names, sorted(set(names)), path)
            for name in names:
                self.assertRegex(name, r"^[a-z0-9][a-z0-9.+-]+$", path)

    def call(self, body, path):
        """Runs `body` with scripts/common.sh and only the programs of `path`."""
        return subprocess.run(["/bin/bash", "-c", f"set -euo pipefail\ncd '{self.root}'\nlog=/dev/null\n. scripts/common.sh\n{body}"],
                              capture_output=True, text=True, env={"PATH": path, "LC_ALL": "C"})

    def test_another_system_is_told_what_to_install(self):
        with tempfile.TemporaryDirectory() as empty:
            run = self.call("installPackages build", empty)
        self.assertEqual(run.returncode, 1)
        for word in ("cmake", "ninja", "pkg-config", "c++", "docs/building.md"):
            self.assertIn(word, run.stderr)

    def test_building_md_covers_every_library_of_the_build(self):
        text = (self.root / "docs/building.md").read_text()
        for name in (self.root / "scripts/packages/build.txt").read_text().splitlines():
            if name and not name.startswith("#"):
                self.assertIn(f"`{name}`", text, "docs/building.md names the package")

    def test_without_root_and_sudo_the_packages_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, body in {"apt-get": "exit 1", "dpkg-query": "echo unknown", "id": "echo 1000"}.items():
                program = pathlib.Path(folder, name)
                program.write_text(f"#!/bin/sh\n{body}\n")
                program.chmod(0o755)
            for name in ("grep", "sort"):
                os.symlink(next(p for p in (f"/usr/bin/{name}", f"/bin/{name}") if os.path.exists(p)), pathlib.Path(folder, name))
            run = self.call("installPackages build", folder)
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("there is no sudo", run.stderr)
        self.assertIn("qt6-base-dev", run.stderr)

    def test_nothing_is_installed_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, body in {"apt-get": "echo apt-get was called >&2; exit 1", "dpkg-query": "printf installed"}.items():
                program = pathlib.Path(folder, name)
                program.write_text(f"#!/bin/sh\n{body}\n")
                program.chmod(0o755)
            run = self.call("installPackages build run test", f"{folder}:/usr/bin:/bin")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_a_failing_step_ends_the_script_with_the_end_of_its_log(self):
        with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
            run = self.call(f"log={log.name}\nquietly Step sh -c 'echo the reason; exit 3'\necho went on", "/usr/bin:/bin")
        self.assertEqual(run.returncode, 1)
        self.assertIn("the reason", run.stderr)
        self.assertNotIn("went on", run.stdout)

    def test_ci_runs_the_readme(self):
        content = (self.root / ".ci/run").read_text()
        self.assertIn("scripts/readme-command 1", content)
        self.assertIn("scripts/readme-command 2", content)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    Scripts.root = arguments.root.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
