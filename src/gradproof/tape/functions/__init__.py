"""What NumPy's and SciPy's functions mean in ops, one file per topic."""

import importlib
import pkgutil

from gradproof.tape.functions._table import LOWERINGS, PLAIN, VIEWS

# Discovered, not registered: every module here whose name has no leading underscore fills the table.
for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["LOWERINGS", "PLAIN", "VIEWS"]
