"""The closed set of functions a program may name, forward and derivative together."""

import importlib
import pkgutil

from gradproof.ops._op import TABLE, Arithmetic, Kind, Op, Sample

# Discovered, not registered: every module here whose name has no leading underscore fills the table.
for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["TABLE", "Arithmetic", "Kind", "Op", "Sample"]
