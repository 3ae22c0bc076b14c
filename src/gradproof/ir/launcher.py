"""The script that has started gradproof on the command line: it lies among the user's files and is not one of them."""

from __future__ import annotations

_FILES: set[str] = set()


def note_launcher(filename: str) -> None:
    _FILES.add(filename)


def is_launcher(filename: str) -> bool:
    return filename in _FILES
