"""Random programs: DAGs of ops from the table, with random shapes, dtypes and scales.

Two kinds of steps. Free steps apply an op to whatever is at hand, at any scale its domain allows. Sampled
steps take any op of the table with one of its samples, whose inputs are moved a little by a number computed
so far: so an op that is added to the table is in these programs without being named here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir import types
from gradproof.ir.program import Builder, Program
from gradproof.ops import TABLE, Arithmetic, Op, Sample

from .sixty_digits import can_evaluate

MOST_ENTRIES = 24
SHAPES = ((), (), (1,), (3,), (2, 3), (3, 1), (1, 3), (2, 1, 3), (2, 2))
DTYPES = ("float16", "bfloat16", "float32", "float32", "float64", "float64")
LARGEST = {"float16": 3e4, "bfloat16": 1e36, "float32": 1e36, "float64": 1e150}

# Where each function of one number may be asked; what overflows is tried and dropped.
RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(
        ("neg", "square", "exp", "expm1", "tanh", "sinh", "cosh", "atan", "asinh", "sigmoid"), (-1e40, 1e40)
    ),
    **dict.fromkeys(("erf", "erfc", "softplus", "log_sigmoid", "sinc", "dawson"), (-25.0, 25.0)),
    **dict.fromkeys(("sin", "cos"), (-1e5, 1e5)),
    **dict.fromkeys(("tan", "exp2"), (-1.5, 1.5)),
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"), (1e-37, 1e37)),
    **dict.fromkeys(("cbrt", "lgamma", "digamma"), (1e-3, 50.0)),
    **dict.fromkeys(("asin", "acos", "atanh", "erfinv"), (-0.99, 0.99)),
    "log1p": (-0.99, 1e37),
    "acosh": (1.01, 1e37),
    "ndtri": (0.01, 0.99),
}
COMPARISONS = ("less", "less_equal", "greater", "greater_equal")


@dataclass
class Draft:
    """A program in the making: what has been computed, and what no one has used yet."""

    rng: np.random.Generator
    dtype: str
    builder: Builder = field(default_factory=Builder)
    nodes: list[Traced] = field(default_factory=list)
    unused: dict[int, Traced] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.m = Tracer(self.builder, phase="forward")
        self.plain = Arithmetic(Ieee())

    def keep(self, y: Any) -> None:
        for part in y if isinstance(y, tuple) else (y,):
            if types.is_real(types.dtype_name(part.value)):
                self.nodes.append(part)
                self.unused[part.id] = part

    def use(self, x: Traced) -> Traced:
        self.unused.pop(x.id, None)
        return x

    def any_node(self) -> Traced:
        # Recent ones more often, so that programs become deep and not only wide.
        pool = self.nodes[-3:] if self.rng.random() < 0.6 else self.nodes
        return pool[self.rng.integers(len(pool))]

    def like(self, x: Traced, other: Traced) -> Traced:
        """`other` in the dtype of `x`, as frameworks demand."""
        dtype = types.dtype_name(x.value)
        return other if types.dtype_name(other.value) == dtype else self.m.cast(other, dtype=dtype)

    def is_fine(self, name: str, *xs: Traced, **params: Any) -> bool:
        """Whether a step stays finite and small in number."""
        with self.plain.domain.active():
            y = getattr(self.plain, name)(*(x.value for x in xs), **params)
        parts = y if isinstance(y, tuple) else (y,)
        return all(_is_tame(np.asarray(part)) for part in parts)


def _is_tame(y: Any) -> bool:
    dtype = types.dtype_name(y)
    if not types.is_real(dtype):
        return types.is_discrete(dtype)
    return bool(y.size <= MOST_ENTRIES and (np.abs(y.astype(np.float64)) <= LARGEST[dtype]).all())


def random_program(seed: int) -> Program:
    """A program with one scalar output, the same for the same seed as long as the table is the same."""
    rng = np.random.default_rng(seed)
    draft = Draft(rng, DTYPES[rng.integers(len(DTYPES))])
    wide = rng.random() < 0.5
    for k in range(rng.integers(1, 4)):
        draft.keep(Traced(draft.m, draft.builder.input(value := _input(draft, wide), f"x{k}"), value))
    for _ in range(rng.integers(2, 10)):
        _step(draft)
    return draft.builder.build([_total(draft).id])


def _input(draft: Draft, wide: bool) -> Any:
    rng, shape = draft.rng, SHAPES[draft.rng.integers(len(SHAPES))]
    exponent = 0.0 if not wide else rng.uniform(-30, 30) if draft.dtype != "float16" else rng.uniform(-3, 3)
    value = rng.normal(size=shape) * 10.0**exponent
    if rng.random() < 0.1:
        value = np.where(rng.random(shape) < 0.3, 0.0, value)
    return np.asarray(value).astype(types.numpy_dtype(draft.dtype))


def _step(draft: Draft) -> None:
    kinds = (
        _unary,
        _unary,
        _binary,
        _binary,
        _move,
        _move,
        _reduce,
        _product,
        _branch,
        _sampled,
        _sampled,
        _cast,
    )
    kinds[draft.rng.integers(len(kinds))](draft)


def _unary(draft: Draft) -> None:
    names = [name for name in RANGES if name in TABLE and can_evaluate(name)]
    name, x = names[draft.rng.integers(len(names))], draft.any_node()
    low, high = RANGES[name]
    wide = x.value.astype(np.float64)
    if ((wide > low) & (wide < high)).all() and draft.is_fine(name, x):
        draft.keep(getattr(draft.m, name)(draft.use(x)))


def _binary(draft: Draft) -> None:
    name = ("add", "sub", "mul", "mul", "div")[draft.rng.integers(5)]
    a, b = draft.any_node(), draft.any_node()
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return
    b = draft.like(a, b)
    if draft.is_fine(name, a, b):
        draft.keep(getattr(draft.m, name)(draft.use(a), draft.use(b)))


def _move(draft: Draft) -> None:
    rng, x = draft.rng, draft.any_node()
    choices: list[tuple[str, dict[str, Any]]] = [
        ("reshape", {"shape": (1, x.value.size)}),
        ("transpose", {"order": tuple(range(x.ndim))[::-1]}),
        ("broadcast", {"shape": (2, *x.shape)}),
    ]
    if x.ndim:
        axis = int(rng.integers(x.ndim))
        n = x.shape[axis]
        end = tuple(n - (n > 1) if k == axis else length for k, length in enumerate(x.shape))
        choices += [("reverse", {"axes": (axis,)}), ("strided_slice", {"begin": (0,) * x.ndim, "end": end})]
    name, params = choices[rng.integers(len(choices))]
    if draft.is_fine(name, x, **params):
        draft.keep(getattr(draft.m, name)(draft.use(x), **params))


def _reduce(draft: Draft) -> None:
    x = draft.any_node()
    axes = tuple(int(axis) for axis in range(x.ndim) if draft.rng.random() < 0.6)
    name = ("sum", "mean", "sum_to")[draft.rng.integers(3)]
    params: dict[str, Any] = {"axes": axes}
    if name == "sum_to":
        params = {"shape": tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))}
    if draft.is_fine(name, x, **params):
        draft.keep(getattr(draft.m, name)(draft.use(x), **params))


def _product(draft: Draft) -> None:
    matrices = [x for x in draft.nodes if x.ndim >= 2]
    pairs = [
        (a, b) for a in matrices for b in matrices if a.shape[-1] == b.shape[-2] and a.ndim == b.ndim == 2
    ]
    if not pairs:
        return
    a, b = pairs[draft.rng.integers(len(pairs))]
    b = draft.like(a, b)
    if draft.is_fine("matmul", a, b):
        draft.keep(draft.m.matmul(draft.use(a), draft.use(b)))


def _branch(draft: Draft) -> None:
    """Maximum, clipping, relu and masked logarithms are all a decision and a select."""
    rng, m, x = draft.rng, draft.m, draft.any_node()
    middle = float(np.median(x.value.astype(np.float64))) * float(rng.uniform(0.5, 1.5))
    threshold = Traced(m, draft.builder.constant(value := np.asarray(middle).astype(x.value.dtype)), value)
    name = COMPARISONS[rng.integers(len(COMPARISONS))]
    condition = getattr(m, name)(draft.use(x), threshold)
    other = x
    if rng.random() < 0.3:  # the branch that is not taken may have no value at all
        other = getattr(m, ("log", "sqrt")[rng.integers(2)])(x)
        condition = m.logical_and(condition, m.greater(x, m.constant(np.zeros((), x.value.dtype))))
    elif draft.is_fine("square", x) and rng.random() < 0.5:
        other = m.square(x)
    draft.keep(m.select(condition, other, x if rng.random() < 0.5 else threshold))


def _cast(draft: Draft) -> None:
    x, dtype = draft.any_node(), DTYPES[draft.rng.integers(len(DTYPES))]
    smallest = 1e-4 if dtype == "float16" else 1e-36
    wide = np.abs(x.value.astype(np.float64))
    if ((wide == 0.0) | ((wide > smallest) & (wide < LARGEST[dtype]))).all():
        draft.keep(draft.m.cast(draft.use(x), dtype=dtype))


@cache
def sampled_ops() -> dict[str, list[Sample]]:
    """The samples of every op that has a derivative, real inputs and an independent value."""
    found = {
        op.name: [sample for sample in op.samples if all(map(_is_real_or_discrete, sample.inputs))]
        for op in TABLE.values()
        if _has_rules(op) and can_evaluate(op.name)
    }
    return {name: samples for name, samples in found.items() if samples}


def _has_rules(op: Op) -> bool:
    """Whether it can be differentiated by every argument."""
    return op.pullback is not None or (op.slopes is not None and None not in op.slopes)


def _is_real_or_discrete(x: Any) -> bool:
    return np.asarray(x).dtype.kind != "c" and np.size(x) > 0


def _sampled(draft: Draft) -> None:
    """An op at one of its samples, every real input moved by up to a percent."""
    rng, m = draft.rng, draft.m
    choices = sampled_ops()
    name = sorted(choices)[rng.integers(len(choices))]
    sample = choices[name][rng.integers(len(choices[name]))]
    x = draft.any_node()
    total = m.sum(x, axes=tuple(range(x.ndim)))
    if not draft.is_fine("square", total):
        return
    # t / (1 + t^2) lies between -1/2 and 1/2, whatever the scale.
    share = m.mul(m.div(total, 1 + m.square(total)), 2.0**-6)
    arguments = [_near(draft, value, share) for value in sample.inputs]
    if draft.is_fine(name, *(a for a in arguments), **sample.params):
        draft.use(x)
        draft.keep(getattr(m, name)(*arguments, **sample.params))


def _near(draft: Draft, value: Any, share: Traced) -> Traced:
    array = np.asarray(value)
    if array.dtype.kind in "biu":
        return draft.m.constant(array)
    weights = (draft.rng.integers(-8, 9, array.shape) / 8.0).astype(share.value.dtype)
    constant = draft.m.constant(array.astype(share.value.dtype))
    return draft.m.add(constant, draft.m.mul(constant, draft.m.mul(draft.m.constant(weights), share)))


def _total(draft: Draft) -> Traced:
    """The sum of what was not used, each with a weight, in the program's dtype."""
    m, total = draft.m, None
    dtype = types.numpy_dtype(draft.dtype)
    for x in list(draft.unused.values()):
        x = x if x.value.dtype == dtype else m.cast(x, dtype=draft.dtype)
        weights = (draft.rng.integers(1, 9, x.shape) / 4.0).astype(dtype)
        term = m.sum(m.mul(x, m.constant(weights)), axes=tuple(range(x.ndim)))
        total = term if total is None else m.add(total, term)
    assert total is not None
    return total
