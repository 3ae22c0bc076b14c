"""Frameworks known by name whose gradients nothing here listens to: a program in one of them is told so."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator
from types import ModuleType

from gradproof.frontends.record.source import is_users
from gradproof.ir import syntax

KNOWN = {
    "autograd": "Autograd",
    "aesara": "Aesara",
    "casadi": "CasADi",
    "chainer": "Chainer",
    "cntk": "CNTK",
    "drjit": "Dr.Jit",
    "dynet": "DyNet",
    "jax": "JAX",
    "jittor": "Jittor",
    "megengine": "MegEngine",
    "mindspore": "MindSpore",
    "mlx": "MLX",
    "mxnet": "MXNet",
    "nnabla": "NNabla",
    "oneflow": "OneFlow",
    "paddle": "PaddlePaddle",
    "pytensor": "PyTensor",
    "taichi": "Taichi",
    "tangent": "Tangent",
    "theano": "Theano",
    "tinygrad": "tinygrad",
    "torch": "PyTorch",
}
"""Packages that compute gradients, and what they are called. Those that have a frontend may stand here too."""


def imported(served: Collection[str]) -> list[str]:
    """Those that the program's own files import, and that were imported: a library may have others for itself."""
    present = {package for package in KNOWN if package in sys.modules and package not in served}
    if not present:
        return []
    own = {package for module in list(sys.modules.values()) for package in _imports(module)}
    return sorted(KNOWN[package] for package in present & own)


def _imports(module: ModuleType | None) -> Iterator[str]:
    """The packages that the import statements of a user's module name, at its top or inside of functions."""
    file, loader = getattr(module, "__file__", None), getattr(module, "__loader__", None)
    if not isinstance(file, str) or not is_users(file) or not hasattr(loader, "get_source"):
        return
    try:
        tree = syntax.module(loader.get_source(module.__name__) or "")  # type: ignore[union-attr]
    except (ImportError, OSError, SyntaxError, ValueError, RecursionError):
        return  # what cannot be read now was read when it ran; nothing can be said of it
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]
