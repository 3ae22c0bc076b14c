"""What is to be run, found and compiled as Python itself would: a script, a folder, an archive, a module."""

from __future__ import annotations

import importlib.util
import io
import linecache
import os
import pkgutil
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from gradproof.errors import NothingToRun, did_you_mean

SIMILAR = 0.75  # of difflib's ratio: a letter or two in a short name; below, the remark would be noise


@dataclass(frozen=True)
class AuditTarget:
    """A program that is ready to run.

    `name` is what the user called it, `path` the file it came from, `search` what Python puts in front of the
    folders it imports from. `spec` is known for modules and for the `__main__` of a folder. With a `text` the
    program is run as if its file had that one.
    """

    name: str
    path: str
    search: str
    loader: Any
    spec: ModuleSpec | None = None
    text: str | None = None

    def compile(self) -> CodeType:
        """The code of the program. What is wrong with it is raised as Python raises it."""
        if self.text is not None:
            _show(self.text, self.path)
            return compile(self.text, self.path, "exec", dont_inherit=True)
        if self.spec is not None:
            code = self.loader.get_code(self.spec.name)
            assert isinstance(code, CodeType)
            return code
        # Not through the loader, which would write a `.pyc` file: Python writes none for a script.
        with io.open_code(self.path) as file:
            source = file.read()
        return compile(source, self.path, "exec", dont_inherit=True)

    def main_module(self) -> ModuleType:
        """A fresh `__main__` with the names that Python gives it."""
        module = ModuleType("__main__")
        names = {
            "__file__": self.path,
            "__cached__": None if self.spec is None else self.spec.cached,
            "__loader__": self.loader,
            "__spec__": self.spec,
            "__package__": None if self.spec is None else self.spec.parent,
            "__builtins__": sys.modules["builtins"],
            "__annotations__": {},
        }
        module.__dict__.update(names)
        return module


def _show(text: str, path: str) -> None:
    """Whoever asks for the lines of the file is to see those that run, for as long as the process lives.

    Without a time the entry stays. AutoGraph has files read anew all the same, and would compile what stands on disk.
    """
    entry = (len(text), None, text.splitlines(keepends=True), path)
    read_anew = linecache.updatecache

    def kept(filename: str, module_globals: Any = None) -> list[str]:
        if filename != path:
            return read_anew(filename, module_globals)
        linecache.cache[path] = entry
        return entry[2]

    linecache.cache[path] = entry
    linecache.updatecache = kept


def find_script(name: str) -> AuditTarget:
    """The program behind a path; a folder or an archive is run by its `__main__`, as Python does."""
    path = os.path.abspath(name)
    if not os.path.exists(path):
        raise NothingToRun(f"there is no file `{name}`{_similar(path)}")
    if os.path.isfile(path) and not _is_archive(path):
        return AuditTarget(name, path, os.path.dirname(path), SourceFileLoader("__main__", path))
    importer = pkgutil.get_importer(path)
    spec = None if importer is None else importer.find_spec("__main__")
    if spec is None or spec.loader is None:
        kind = "folder" if os.path.isdir(path) else "archive"
        raise NothingToRun(f"`{name}` is a {kind} without a `__main__.py`: give the file that is to be run")
    return AuditTarget(name, spec.origin or path, path, spec.loader, spec)


def find_module(name: str) -> AuditTarget:
    """The program that `python -m` would run; parent packages are imported, as it does."""
    search_from(os.getcwd())
    spec = _module_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _module_spec(f"{name}.__main__")
        if spec is None:
            raise NothingToRun(f"`{name}` is a package without a `__main__` module: it cannot be run")
    if spec is None:
        raise NothingToRun(f"there is no module `{name}` on the path that Python searches from here")
    if spec.loader is None or spec.origin is None or not hasattr(spec.loader, "get_code"):
        raise NothingToRun(f"the module `{name}` has no Python code that could be run")
    return AuditTarget(name, spec.origin, os.getcwd(), spec.loader, spec)


def search_from(folder: str) -> None:
    """Put a folder where Python puts that of the program it starts, which so far was gradproof itself."""
    if not sys.flags.safe_path:
        sys.path[0:1] = [folder]


def _module_spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        raise NothingToRun(f"there is no module `{name}`: {error}") from error
    except ValueError:
        return None


def _is_archive(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _similar(path: str) -> str:
    """The name that was probably meant, as a remark."""
    folder, base = os.path.split(path)
    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    return did_you_mean(base, names, SIMILAR)
