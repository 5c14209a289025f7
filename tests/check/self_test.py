"""Each check of tools/check finds the fault it is there for, and is silent without it."""

import contextlib
import importlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "check"))


def findings(check, files):
    """What `check` says of a tree with these files ({name: text}; a name ending in * is executable)."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        root = pathlib.Path(folder)
        for name, content in files.items():
            path = root / name.rstrip("*")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            path.chmod(0o755 if name.endswith("*") else 0o644)
        return importlib.import_module(check).check(root)


class Checks(unittest.TestCase):
    def clean(self, check, files):
        self.assertEqual(findings(check, files), [])

    def found(self, check, files, words):
        said = findings(check, files)
        self.assertTrue(any(words in sentence for sentence in said), f"{words!r} not in {said}")

    def test_includes(self):
        self.clean("includes", {"engine/a/x.cpp": '#include "a/x.h"\n#include <vector>\n', "engine/a/x.h": "",
                                "engine/include/colibri/e.h": "#include <colibri/t.h>\n#include <cstdint>\n",
                                "app/core/s.cpp": "#include <colibri/e.h>\n#include <QObject>\n",
                                "app/a/own.cpp": '#include "a/own.h"\n', "app/a/own.h": ""})
        self.found("includes", {"engine/a/x.cpp": "#include <QString>\n"}, "includes Qt (QString)")
        self.found("includes", {"engine/a/x.cpp": "#include <QtCore/qstring.h>\n"}, "includes Qt")
        self.found("includes", {"engine/include/colibri/e.h": '#include "a/x.h"\n'}, "not public")
        self.found("includes", {"engine/a/x.h": "", "app/core/s.cpp": '#include "a/x.h"\n'}, "private a/x.h")
        self.found("includes", {"engine/a/x.h": "", "qml/P/p.cpp": '#include <a/x.h>\n'}, "private a/x.h")
        self.found("includes", {"app/core/s.cpp": "#include <QQuickItem>\n"}, "app/main alone")
        self.clean("includes", {"app/main/main.cpp": "#include <QQuickWindow>\n"})

    def test_qml_imports(self):
        packages = {"scripts/packages/run.txt": "qml6-module-qtquick\n"}
        modules = {"qml/Ui/CMakeLists.txt": "qt_add_qml_module(ui URI Colibri.Ui)",
                   "qml/Chat/CMakeLists.txt": "qt_add_qml_module(chat URI Colibri.Chat)",
                   "qml/Models/CMakeLists.txt": "qt_add_qml_module(models URI Colibri.Models)"}
        self.clean("qml_imports", packages | modules | {"qml/Chat/P.qml": "import QtQuick\nimport Colibri.Ui\n",
                                                        "qml/Shell/S.qml": "import Colibri.Chat\nimport Colibri.Models\n"})
        self.found("qml_imports", packages | {"qml/Chat/P.qml": "import QtQuick.Layouts\n"}, "run.txt lacks")
        self.found("qml_imports", packages | {"qml/Chat/P.qml": "import QtCharts\n"}, "not among the Qt modules")
        self.found("qml_imports", packages | {"qml/Chat/P.qml": 'import "../Models"\n'}, "by name")
        self.found("qml_imports", packages | modules | {"qml/Chat/P.qml": "import Colibri.Models\n"}, "another page")
        self.found("qml_imports", packages | modules | {"qml/Ui/B.qml": "import Colibri.Chat\n"}, "know no page")

    def test_file_length(self):
        self.clean("file_length", {"a.cpp": "\n" * 800})
        self.found("file_length", {"a.cpp": "\n" * 801}, "801 lines")

    def test_machine_paths(self):
        self.clean("machine_paths", {"a.md": "see /usr/share and docs/work/x and ~/models\n", "b.bin": b"\0/ro" b"ot/x"})
        for path in ("/" + "work/x", "/" + "root/.cache", "/" + "home/ann/models", "/" + "tmp/out.txt"):
            self.found("machine_paths", {"a.md": f"in {path}\n"}, "machine path")

    def test_readme_commands(self):
        readme = "```sh\ngit clone x\ncd colibri\n./go\n```\n```sh\n./check now\n```\n"
        self.clean("readme_commands", {"README.md": readme, "go*": "", "check*": ""})
        self.found("readme_commands", {"README.md": readme, "go*": ""}, "names no file")
        self.found("readme_commands", {"README.md": readme, "go*": "", "check": ""}, "not executable")
        self.found("readme_commands", {"README.md": "none"}, "must start with two")

    def test_changelog(self):
        self.clean("changelog", {"changelog/README.md": "", "changelog/0001-first.md": "## Added\n- A thing.\n"})
        self.found("changelog", {"changelog/README.md": ""}, "no fragment")
        self.found("changelog", {"changelog/first.md": "## Added\n- A\n"}, "must look like")
        self.found("changelog", {"changelog/0001-first.md": "words\n"}, "needs a heading")
        self.found("changelog", {"changelog/0001-first.md": "## Stuff\n- A\n"}, "unknown heading")

    def test_licences(self):
        row = "| `resources/fonts/A.ttf` | A | [OFL](OFL.txt) |\n"
        files = {"resources/licences/README.md": row, "resources/licences/OFL.txt": "", "resources/fonts/A.ttf": b"\0"}
        self.clean("licences", files)
        self.found("licences", files | {"resources/fonts/B.otf": b"\0"}, "no row")
        self.found("licences", files | {"resources/demo-model/config.json": "{}"}, "no row")
        self.found("licences", {"resources/licences/README.md": row, "resources/fonts/A.ttf": b"\0"}, "licence text OFL.txt")
        self.found("licences", {"resources/licences/README.md": row, "resources/licences/OFL.txt": ""}, "is not there")
        self.found("licences", {}, "missing")

    def test_goldens(self):
        readme = {"tests/golden/README.md": "| folder | what |\n|---|---|\n| `v4/` | x |\n"}
        self.clean("goldens", readme | {"tests/golden/v4/a.json": "{}"})
        self.found("goldens", readme | {"tests/golden/v4/a.json": "{}", "tests/golden/v5/a.json": "{}"}, "no row for v5/")
        self.found("goldens", readme, "not there")
        self.found("goldens", {}, "missing")

    def test_doc_links(self):
        self.clean("doc_links", {"a.md": "[b](b.md#part) [w](https://x.org) `[c](d)`\n", "b.md": ""})
        self.found("doc_links", {"a.md": "![picture](p.png)\n"}, "links to p.png")

    def test_python_sources(self):
        demo = {"tools/demo_model/README.md": "| `train.py` | x |\n", "tools/demo_model/requirements.txt": "torch>=2\n",
                "tools/demo_model/train.py": "import os\nimport torch\n"}
        self.clean("python_sources", demo)
        self.found("python_sources", {"tools/x.py": "def f(:\n"}, "tools/x.py:1")
        self.found("python_sources", demo | {"tools/demo_model/extra.py": ""}, "no row for extra.py")
        self.found("python_sources", demo | {"tools/demo_model/train.py": "import numpy\n"}, "imports numpy")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
