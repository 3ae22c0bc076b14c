"""Versions of frameworks: of those a program has imported, and of those that are installed."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterable

# A framework by the name of its package, and the names under which it is distributed.
DISTRIBUTIONS = {
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos", "tf-nightly"),
    "jax": ("jax",),
    "torch": ("torch",),
    "keras": ("keras",),
    "numpy": ("numpy",),
}


def installed_version(package: str) -> str | None:
    """The version on disk, without importing anything; None where it is not installed."""
    for name in DISTRIBUTIONS.get(package, (package,)):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def imported_frameworks(named: Iterable[str]) -> dict[str, str]:
    """The frameworks the program got gradients from, with their versions.

    That a package is imported says little: TensorFlow itself imports JAX. Keras has no gradients of its own,
    but its version matters to whoever reads about them.
    """
    wanted = set(named)
    if "keras" in sys.modules and wanted & {"tensorflow", "jax", "torch"}:
        wanted.add("keras")
    found = {}
    for package in DISTRIBUTIONS:
        version = _version(package) if package in wanted else None
        if version is not None:
            found[package] = version
    return found


def _version(package: str) -> str | None:
    own = getattr(sys.modules.get(package), "__version__", None)
    return own if isinstance(own, str) else installed_version(package)
