"""Python files compile, and the demo model's training folder is whole: its README lists its files, imports resolve."""

import ast
import re

import tree

DEMO = "tools/demo_model"
ROW = re.compile(r"^\|\s*(`[^|]+`)\s*\|", re.MULTILINE)


def check(root):
    findings = []
    modules = {}
    for file in tree.files(root):
        if file.suffix != ".py":
            continue
        try:
            modules[file] = ast.parse((root / file).read_bytes(), filename=str(file))
        except SyntaxError as error:
            findings.append(f"{file}:{error.lineno}: {error.msg}")
    if (root / DEMO).is_dir():
        findings += demo_model(root, modules)
    return findings


def demo_model(root, modules):
    findings = []
    scripts = {file.name: parsed for file, parsed in modules.items() if tree.under(file, DEMO)}
    readme = (root / DEMO / "README.md").read_text()
    listed = {name for cell in ROW.findall(readme) for name in re.findall(r"`([^`]+)`", cell)}
    findings += [f"{DEMO}/README.md: no row for {name}" for name in sorted(set(scripts) - listed)]
    findings += [f"{DEMO}/README.md: lists {name}, which is not there" for name in sorted(listed)
                 if not (root / DEMO / name).exists()]
    requirements = (root / DEMO / "requirements.txt").read_text().splitlines()
    packages = {re.split(r"[<>=!~\[ ]", line)[0].lower() for line in requirements if line and not line.startswith("#")}
    for name, parsed in sorted(scripts.items()):
        for module in sorted(imported(parsed)):
            if f"{module}.py" not in scripts and module not in packages and not standard(module):
                findings.append(f"{DEMO}/{name}: imports {module}, which is neither here nor in requirements.txt")
    return findings


def imported(parsed):
    names = set()
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


def standard(module):
    import sys
    return module in sys.stdlib_module_names
