"""Configures small projects against cmake/DependencyRules.cmake: allowed edges pass, any other edge stops configure."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(rules LANGUAGES NONE)
include("{rules}")
{body}
colibri_check_dependency_rules()
"""


class DependencyRules(unittest.TestCase):
    cmake = "cmake"
    rules = ""

    def configure(self, body):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "CMakeLists.txt").write_text(PROJECT.format(rules=self.rules, body=body))
            run = subprocess.run([self.cmake, "-S", str(folder), "-B", str(folder / "out")], capture_output=True, text=True)
            return run.returncode, run.stdout + run.stderr

    def test_allowed_edges_configure(self):
        code, output = self.configure("colibri_declare_edges(store base io checkpoint)\ncolibri_declare_edges(app session)")
        self.assertEqual(code, 0, output)

    def test_upward_edge_fails(self):
        code, output = self.configure("colibri_declare_edges(kernels model)")
        self.assertNotEqual(code, 0)
        self.assertIn("'kernels' may not use 'model'", " ".join(output.split()))

    def test_app_sees_the_public_engine_only(self):
        code, output = self.configure("colibri_declare_edges(app store)")
        self.assertNotEqual(code, 0)
        self.assertIn("'app' may not use 'store'", " ".join(output.split()))

    def test_module_without_a_line_fails(self):
        code, output = self.configure("colibri_declare_edges(surprise base)")
        self.assertNotEqual(code, 0)
        self.assertIn("'surprise' has no line", " ".join(output.split()))

    def test_link_behind_the_declared_edges_fails(self):
        code, output = self.configure(
            "add_library(colibri_model INTERFACE)\nadd_library(colibri_io INTERFACE)\n"
            "set_property(TARGET colibri_io PROPERTY LINK_LIBRARIES colibri_model)")
        self.assertNotEqual(code, 0)
        self.assertIn("'io' links 'model'", " ".join(output.split()))

    def test_no_cycle_in_the_table(self):
        code, output = self.configure(
            'foreach(module IN LISTS COLIBRI_RULED_MODULES)\n'
            '  foreach(to IN LISTS COLIBRI_ALLOWED_${module})\n'
            '    if(module IN_LIST COLIBRI_ALLOWED_${to})\n'
            '      message(FATAL_ERROR "${module} and ${to} may use each other")\n'
            '    endif()\n  endforeach()\nendforeach()')
        self.assertEqual(code, 0, output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--rules", required=True)
    arguments, rest = parser.parse_known_args()
    DependencyRules.cmake = arguments.cmake
    DependencyRules.rules = arguments.rules
    unittest.main(argv=[sys.argv[0], *rest])
