"""What PyTorch's ops mean, forward and backward ones alike; one file per family, discovered."""

import importlib
import pkgutil

from gradproof.frontends.torch.lower._table import LOWERINGS, TABLE

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["LOWERINGS", "TABLE"]
