"""Runs a changed program in PyTorch: how a fix is tried out in the user's framework.

Nothing is said about a change unless the unchanged program, run this way, returns what the user's own run returned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradproof.frontends.emitting import Emitted, NoFunction, emitted, named, of_order, summed_axes, times
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
        "matmul", "real", "imag", "complex", "xlogy",
    )},
    **{name: f"linalg.{name}" for name in ("det", "pinv")},
    "softplus": "nn.functional.softplus", "log_sigmoid": "nn.functional.logsigmoid",
    "identity": "clone", "stop_gradient": "detach", "ndtr": "special.ndtr", "log_ndtr": "special.log_ndtr",
    "ndtri": "special.ndtri", "select": "where", "xlog1py": "special.xlog1py", "zeta": "special.zeta",
    "erfcx": "special.erfcx", "igamma": "special.gammainc", "igammac": "special.gammaincc", "inverse": "linalg.inv",
    "matrix_exp": "linalg.matrix_exp",
}  # fmt: skip


def _running(name: str) -> Callable[..., Any]:
    """Without the entry itself: a one or a zero goes before, and the last falls away."""

    def apply(torch: Any, x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
        x = x.flip(axis) if reverse else x
        if exclusive:
            neutral = torch.full_like(x.narrow(axis, 0, 1), 1.0 if name == "cumprod" else 0.0)
            x = torch.cat([neutral, x.narrow(axis, 0, x.shape[axis] - 1)], dim=axis)
        y = getattr(torch, name)(x, dim=axis)
        return y.flip(axis) if reverse else y

    return apply


def _product(torch: Any, x: Any, axes: tuple[int, ...]) -> Any:
    for axis in sorted(axes, reverse=True):
        x = x.prod(dim=axis)
    return x


def _sum_to(torch: Any, x: Any, shape: tuple[int, ...]) -> Any:
    axes = summed_axes(x.shape, shape)
    return (x.sum(dim=axes) if axes else x).reshape(shape)


def _sliced(torch: Any, x: Any, begin: Any, end: Any, stride: Any = None) -> Any:
    """PyTorch's slices go forwards only: an axis that goes backwards is reversed first."""
    strides = stride or (1,) * len(begin)
    for axis, (b, e, s) in enumerate(zip(begin, end, strides)):
        n = x.shape[axis]
        b, e, x = (b, e, x) if s > 0 else (n - 1 - b, n - 1 - e, x.flip(axis))
        x = x[(slice(None),) * axis + (slice(b, e, abs(s)),)]
    return x


def _placed(torch: Any, indices: Any, sizes: Any) -> tuple[Any, ...]:
    return tuple(indices[..., k] for k in range(len(sizes[: indices.shape[-1]])))


def _scattered(torch: Any, x: Any, indices: Any, shape: tuple[int, ...]) -> Any:
    zeros = torch.zeros(shape, dtype=x.dtype, device=x.device)
    return zeros.index_put(_placed(torch, indices, shape), x, accumulate=True)


def _alike(torch: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """One batch of systems for one batch of right sides: PyTorch takes a batch of vectors for a matrix."""
    lead = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return tuple(x.expand((*lead, *x.shape[-2:])) for x in (a, b))


def _padded(torch: Any, x: Any, fill: Any = 0, *, widths: Any) -> Any:
    flat = [n for pair in reversed(widths) for n in pair]
    if isinstance(fill, torch.Tensor):
        inside = torch.nn.functional.pad(torch.ones_like(x), flat)
        return torch.where(inside > 0, torch.nn.functional.pad(x, flat), fill)
    return torch.nn.functional.pad(x, flat)


_WITH_PARAMS: dict[str, Callable[..., Any]] = {
    "conj": lambda torch, x: torch.conj(x).resolve_conj(),
    "prod": _product,
    "sum_to": _sum_to,
    "cumsum": _running("cumsum"),
    "cumprod": _running("cumprod"),
    "strided_slice": _sliced,
    "take": lambda torch, x, indices, axis: torch.index_select(
        x, axis, torch.where(indices < 0, indices + x.shape[axis], indices).reshape(-1)
    ).reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])),
    "gather_nd": lambda torch, x, indices: x[_placed(torch, indices, x.shape)],
    "scatter_nd": _scattered,
    "scatter_add": lambda torch, x, indices, size: _scattered(
        torch, x, indices[..., None], (size, *x.shape[indices.ndim :])
    ),
    "scatter_update": lambda torch, x, indices, updates: x.index_put(
        _placed(torch, indices, x.shape), updates
    ),
    "einsum": lambda torch, *xs, equation: torch.einsum(equation, *xs),
    "roll": lambda torch, x, shifts, axes: torch.roll(x, shifts, axes),
    "repeat": lambda torch, x, repeats, axis: torch.repeat_interleave(x, repeats, dim=axis),
    "pad": _padded,
    "diag_part": lambda torch, x, offset=0: torch.diagonal(x, offset, -2, -1),
    "log_abs_det": lambda torch, x: torch.linalg.slogdet(x)[1],
    "triangular_solve": lambda torch, a, b, lower=True, adjoint=False, unit_diagonal=False: (
        torch.linalg.solve_triangular(
            a.mH if adjoint else a, b, upper=lower == adjoint, unitriangular=unit_diagonal
        )
    ),
    "cholesky": lambda torch, x: torch.linalg.cholesky(x.tril() + x.tril(-1).mH),
    "solve": lambda torch, a, b: torch.linalg.solve(*_alike(torch, a, b)),
    "power": lambda torch, x, y, less=0: torch.pow(x, y - less if less else y),
    "times": times,
    "xdivy": lambda torch, x, y: torch.where(x == 0, torch.zeros_like(x / y), x / y),
    "bessel_i": of_order({0: "special.i0", 1: "special.i1"}),
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

_KERNELS = {**named(_FUNCTIONS), **_WITH_PARAMS}


def _one(axes: tuple[int, ...]) -> int:
    if len(axes) != 1:
        raise NoFunction(f"a softmax along {len(axes)} axes")
    return axes[0]


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
    domain = Emitted("PyTorch", torch, _KERNELS, _constant)
    return emitted(domain, node, [values[id] for id in node.inputs])


def _constant(array: Array, like: Any) -> Any:
    made = tensor_of(array)
    return made if like is None else made.to(device=like.device, dtype=like.dtype)


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
