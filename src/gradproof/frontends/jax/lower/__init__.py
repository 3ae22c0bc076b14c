"""What JAX's primitives mean; one file per family, discovered."""

import importlib
import pkgutil

from gradproof.frontends.jax.lower._table import TABLE

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["TABLE"]
