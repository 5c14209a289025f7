"""Files of the repository, for the checks beside this file."""

import pathlib
import subprocess

SKIPPED_FOLDERS = {".git", ".cache", "build", "__pycache__"}


def files(root):
    """All files that belong to the repository, as paths relative to `root`: what git knows or would add; without git
    (a source archive), everything except build folders."""
    root = pathlib.Path(root)
    if (root / ".git").exists():
        try:
            listed = subprocess.run(
                ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                 "--exclude-standard"],
                check=True, capture_output=True).stdout.decode().split("\0")
            return sorted(pathlib.Path(name) for name in listed if name and (root / name).is_file()
                          and not in_build_folder(root, pathlib.Path(name)))
        except (OSError, subprocess.CalledProcessError):
            pass  # git is missing or refuses: the walk below sees the same files in a clean clone
    found = []
    for path in root.rglob("*"):
        relative = path.relative_to(root)
        if path.is_file() and not SKIPPED_FOLDERS & set(relative.parts) and not in_build_folder(root, relative):
            found.append(relative)
    return sorted(found)


def in_build_folder(root, relative):
    return len(relative.parts) > 1 and (root / relative.parts[0] / "CMakeCache.txt").is_file()


def text(path):
    """The file's text, or None for a binary file."""
    data = path.read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def under(relative, *folders):
    """Whether `relative` lies in one of `folders` (posix names)."""
    name = relative.as_posix()
    return any(name.startswith(folder.rstrip("/") + "/") for folder in folders)
