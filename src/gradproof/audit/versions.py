"""Versions of frameworks: of those a program has imported, and of those that are installed."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterable, Mapping

from gradproof.frameworks import all_frameworks, framework


def installed_version(package: str) -> str | None:
    """The version on disk, without importing anything; None where it is not installed."""
    for name in framework(package).distributions or (package,):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def imported_frameworks(named: Iterable[str]) -> dict[str, str]:
    """The frameworks the program got gradients from, with their versions.

    That a package is imported says little: some frameworks import others. A package that belongs to a framework has
    no gradients of its own, but its version matters to whoever reads about them.
    """
    wanted = set(named)
    found = {}
    for one in (each for each in all_frameworks() if each.name in wanted):
        for package in (one.name, *one.companions):
            version = _version(package) if package == one.name or package in sys.modules else None
            if version is not None:
                found[package] = version
    return found


def version_notes(frameworks: Mapping[str, str]) -> list[str]:
    """A remark on every framework whose version is another than those it was tried with."""
    found = []
    for name, version in frameworks.items():
        known = framework(name)
        if known.made_for and not any(f"{version}.".startswith(f"{one}.") for one in known.made_for):
            found.append(
                f"{known.title} {version} is another version than gradproof is made for, {known.served}: gradients "
                "may be missed or called unverified"
            )
    return found


def _version(package: str) -> str | None:
    own = getattr(sys.modules.get(package), "__version__", None)
    return own if isinstance(own, str) else installed_version(package)
