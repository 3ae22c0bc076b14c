"""Runs a changed program in PyTorch: how a fix is tried out in the user's framework.

Nothing is said about a change unless the unchanged program, run this way, returns what the user's own run returned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradproof.frontends.torch.record.arrays import array_of, tensor_of
from gradproof.frontends.torch.record.observation import unobserved
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.types import Array

ROUNDINGS = 64  # by which two runs of the same ops may differ: sums in another order
MOST_NODES = 2_000  # a larger program is not run again

# Ops that PyTorch has under the same meaning: name of the op -> path of the function.
_FUNCTIONS = {
    **{name: name for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos",
        "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "erf", "erfc", "erfinv",
        "lgamma", "digamma", "logaddexp", "hypot", "square", "reciprocal", "neg", "add", "sub", "mul", "div",
        "matmul", "conj", "real", "imag", "complex", "polygamma", "xlogy",
    )},
    "power": "pow", "softplus": "nn.functional.softplus", "log_sigmoid": "nn.functional.logsigmoid",
    "identity": "clone", "stop_gradient": "detach", "ndtr": "special.ndtr", "log_ndtr": "special.log_ndtr",
    "ndtri": "special.ndtri", "select": "where",
}  # fmt: skip

_WITH_PARAMS: dict[str, Callable[..., Any]] = {
    "sum": lambda torch, x, axes: x.sum(dim=axes) if axes else x.clone(),
    "mean": lambda torch, x, axes: x.mean(dim=axes) if axes else x.clone(),
    "logsumexp": lambda torch, x, axes: torch.logsumexp(x, dim=axes),
    "softmax": lambda torch, x, axes: torch.softmax(x, dim=_one(axes)),
    "log_softmax": lambda torch, x, axes: torch.log_softmax(x, dim=_one(axes)),
    "reshape": lambda torch, x, shape: x.reshape(shape),
    "broadcast": lambda torch, x, shape: x.expand(shape),
    "transpose": lambda torch, x, order: x.permute(order),
    "cast": lambda torch, x, dtype: x.to(getattr(torch, dtype)),
    "integer_power": lambda torch, x, exponent: x**exponent,
    "concat": lambda torch, *xs, axis: torch.cat(xs, dim=axis),
    "stack": lambda torch, *xs, axis: torch.stack(xs, dim=axis),
    "tile": lambda torch, x, repeats: x.repeat(repeats),
    "reverse": lambda torch, x, axes: x.flip(axes),
    "take_along": lambda torch, x, indices, axis: torch.take_along_dim(x, indices, dim=axis),
    "var": lambda torch, x, axes, ddof=0: x.var(dim=axes, correction=ddof),
}


def _one(axes: tuple[int, ...]) -> int:
    (axis,) = axes
    return axis


def replay_of(capture: Capture) -> TorchReplay:
    return TorchReplay(capture)


@dataclass
class TorchReplay:
    """Returns the gradient of a changed program for a node, or None: where it cannot be run as the user would."""

    capture: Capture
    trusted: dict[int, bool] = field(default_factory=dict)

    def __call__(self, program: Program, wrt: int) -> Array | None:
        before = self.capture.program
        if "torch" not in sys.modules or before is None or not self._is_possible(program, wrt):
            return None
        if wrt not in self.trusted:
            self.trusted[wrt] = self._returns_what_was_seen(before, wrt)
        return self._run(program, wrt) if self.trusted[wrt] else None

    def _is_possible(self, program: Program, wrt: int) -> bool:
        """Rules of the user's own do not run again; nor do the copies that make a Jacobian."""
        if self.capture.copies is not None or self.capture.run.order != 1 or len(program.nodes) > MOST_NODES:
            return False
        way = descendants(program, [wrt]) & ancestors(program, program.outputs)
        return not any(node.id in way and node.scope is not None for node in program.nodes)

    def _returns_what_was_seen(self, program: Program, wrt: int) -> bool:
        found = self._run(program, wrt)
        seen = [one.observed for one in self.capture.sources if one.node == wrt and one.observed is not None]
        return found is not None and all(_close(found, observed) for observed in seen)

    def _run(self, program: Program, wrt: int) -> Array | None:
        import torch

        try:
            with unobserved(), torch.enable_grad():
                return _gradient(torch, program, wrt)
        except Exception:  # what PyTorch refuses was not run, and nothing is claimed
            return None


def _gradient(torch: Any, program: Program, wrt: int) -> Array | None:
    moving = descendants(program, [wrt])
    needed = ancestors(program, program.outputs)
    values: dict[int, Any] = {}
    for node in program.nodes:
        if node.id == wrt:
            values[wrt] = tensor_of(node.value).requires_grad_()
        elif node.id in needed:
            values[node.id] = value_in(torch, node, values, node.id in moving)
    (found,) = torch.autograd.grad(values[program.outputs[0]], values[wrt], allow_unused=True)
    return None if found is None else array_of(found)


def value_in(torch: Any, node: Node, values: Mapping[int, Any], depends: bool) -> Any:
    """What does not depend on the source, and every decision, is as it was recorded."""
    if node.value is not None and (not depends or node.is_discrete):
        return tensor_of(node.value)
    args = [values[id] for id in node.inputs]
    if node.op in _WITH_PARAMS:
        return _WITH_PARAMS[node.op](torch, *args, **node.params)
    if node.op not in _FUNCTIONS or node.params:
        raise NotImplementedError(node.op)
    function = torch
    for part in _FUNCTIONS[node.op].split("."):
        function = getattr(function, part)
    return function(*args)


def _close(a: Array, b: Array) -> bool:
    """Equal but for the order of sums; NaN and infinities where they were."""
    if a.shape != b.shape:
        return False
    wide = np.complex128 if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float64
    unit = types.unit_roundoff(types.dtype_name(b))
    a, b = a.astype(wide), b.astype(wide)
    size = float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0))
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= ROUNDINGS * unit * size
    return bool(np.all(near | (a == b) | (np.isnan(a) & np.isnan(b))))
