"""The table of rewrite rules, one family per file; every module here is part of it."""

import importlib
import pkgutil

from gradproof.fixes.rule import RULES, RewriteRule

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["RULES", "RewriteRule"]
