"""Random TensorFlow programs over all lowered ops, and what differences of their own calls say of their gradients.

A program is a chain of samples of the contract, real or complex: every input of a sample is moved a little by a number
that depends on all entries of x, and what comes out moves the inputs of the next one. So an op that is added with its
sample is in these programs. The slope along a random direction comes from calls of TensorFlow alone, in float64, at
two distances, extrapolated; nothing of ours takes part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import tensorflow as tf
from tests.frontends.tensorflow.op_samples import SAMPLES

Array = np.ndarray[Any, Any]
How = Literal["gradient", "second", "jacobian"]

_HOW: tuple[How, ...] = ("gradient", "gradient", "gradient", "second", "jacobian")
MOVE = (
    2.0**-5
)  # by how much of itself a sample's input may move: it stays away from the kinks it was drawn away from
WIDE = {"float32": "float64", "complex64": "complex128"}
TWIN = {"float64": "complex128", "float32": "complex64"}
# Their slope is a rule of how a sample moves, or left out on purpose: differences of calls know nothing of it.
BY_RULE = {
    "StatelessParameterizedTruncatedNormal",
    "StatelessRandomGammaV2",
    "StatelessRandomGammaV3",
    "StopGradient",
}
USABLE = [
    name
    for name, sample in SAMPLES.items()
    if name not in BY_RULE
    and set(sample.verdicts) <= {"correct", "wrong"}
    and any(x.dtype.kind in "fc" for x in sample.inputs)
]


@dataclass(frozen=True)
class Step:
    """A sample with the directions its inputs move in and the weights of its results."""

    name: str
    inputs: tuple[Array, ...]
    moves: tuple[Array | None, ...]
    seed: int

    def __call__(self, share: Any, wide: bool) -> Any:
        """A real number: the weighted sum of all results, with the inputs moved by `share`."""
        xs = [_moved(x, move, share, wide) for x, move in zip(self.inputs, self.moves, strict=True)]
        rng = np.random.default_rng(self.seed)
        total = tf.zeros((), share.dtype)
        for y in tf.nest.flatten(SAMPLES[self.name].call(*xs)):
            if not (y.dtype.is_floating or y.dtype.is_complex):
                continue
            parts = (tf.math.real(y), tf.math.imag(y)) if y.dtype.is_complex else (y,)
            for part in parts:
                total += tf.cast(tf.reduce_sum(_weights(part, rng) * part), share.dtype)
        return total


def _weights(part: Any, rng: np.random.Generator) -> Any:
    """Exact numbers from 0.5 to 1.5, the same where a function knows no shape while it is traced."""
    first, stride = int(rng.integers(64)), 2 * int(rng.integers(32)) + 1
    places = tf.reshape(tf.range(tf.size(part)), tf.shape(part))
    return 0.5 + tf.cast((first + stride * places) % 64, part.dtype) / 64


def _moved(x: Array, move: Array | None, share: Any, wide: bool) -> Any:
    if move is None:
        return tf.constant(x)
    dtype = tf.as_dtype(WIDE.get(x.dtype.name, x.dtype.name) if wide else x.dtype.name)
    real = dtype.real_dtype
    size = tf.cast(share, real)
    by = size if not dtype.is_complex else tf.complex(size, size * tf.constant(0.5, real))
    return tf.constant(x.astype(dtype.as_numpy_dtype)) * (
        1 + tf.constant(move.astype(dtype.as_numpy_dtype)) * by
    )


@dataclass(frozen=True)
class Program:
    """Two real numbers of an array x, and the way their derivative is asked for."""

    seed: int
    point: Array
    weights: Array
    steps: tuple[Step, ...]
    how: How
    in_function: bool

    def __call__(self, x: Any, wide: bool = False) -> Any:
        parts = tf.concat([tf.math.real(x), tf.math.imag(x)], 0) if x.dtype.is_complex else x
        total = tf.reduce_sum(parts * tf.constant(self.weights.astype(parts.dtype.as_numpy_dtype)))
        values = [total * total]
        share = total / (1 + total * total)
        for step in self.steps:
            value = step(share, wide)
            values.append(value * (1 + share))
            share = share + value / (1 + value * value)
        return tf.stack([tf.add_n(values), values[-1]])

    def number(self, x: Any, wide: bool = False) -> Any:
        return self(x, wide)[0]

    def asked(self, x: Any) -> Any:
        """The derivative as a user asks for it."""
        body = tf.function(self.number) if self.in_function else self.number
        if self.how == "jacobian":
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = self(x)
            # Row by row where TensorFlow can: vectorised, every Jacobian costs a trace.
            return tape.jacobian(y, x, experimental_use_pfor=x.dtype.is_complex or self.seed % 100 == 0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            y = body(x) if self.how == "gradient" else self.slope_number(x, body)
        return outer.gradient(y, x)

    def slope_number(self, x: Any, body: Any = None, wide: bool = False) -> Any:
        """A real number made of the first derivative, as TensorFlow computes it."""
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = self.number(x, wide) if body is None else body(x)
        g = tape.gradient(y, x)
        parts = tf.concat([tf.math.real(g), tf.math.imag(g)], 0) if g.dtype.is_complex else g
        return tf.reduce_sum(parts * tf.constant(self.weights[::-1].astype(parts.dtype.as_numpy_dtype)))

    def plain(self, x: Array, wide: bool) -> Array:
        """What is differentiated, computed by TensorFlow alone."""
        tensor = tf.constant(x)
        if self.how == "jacobian":
            return np.asarray(self(tensor, wide), np.float64)
        y = self.number(tensor, wide) if self.how == "gradient" else self.slope_number(tensor, None, wide)
        return np.asarray(y, np.float64)


def random_program(seed: int) -> Program | None:
    """None where TensorFlow has no gradient for the draw."""
    rng = np.random.default_rng(seed)
    is_complex, is_narrow = rng.random() < 0.4, rng.random() < 0.3
    steps = tuple(_step(rng, is_complex, is_narrow) for _ in range(1 if rng.random() < 0.75 else 2))
    point = rng.uniform(0.2, 1.0, 3) * rng.choice([-1, 1], 3)
    if is_complex:
        point = point + 1j * rng.uniform(0.2, 1.0, 3)
    dtype = "float32" if is_narrow else "float64"
    point = point.astype(TWIN[dtype] if is_complex else dtype)
    weights = rng.uniform(0.3, 1.0, 6 if is_complex else 3).astype(np.float32)
    how: How = _HOW[int(rng.integers(len(_HOW)))]
    if how == "jacobian" and is_complex and rng.random() < 0.9:
        how = "gradient"
    program = Program(seed, point, weights, steps, how, rng.random() < 0.015 and how != "jacobian")
    return program if _runs(program) else None


def _step(rng: np.random.Generator, is_complex: bool, is_narrow: bool) -> Step:
    """A sample that TensorFlow runs with numbers of this kind."""
    while True:
        name = USABLE[int(rng.integers(len(USABLE)))]
        inputs = tuple(_in_kind(rng, x, is_complex, is_narrow) for x in SAMPLES[name].inputs)
        moves = tuple(
            (rng.uniform(0.5, 1.5, x.shape) * rng.choice([-1, 1], x.shape) * MOVE).astype(np.float32)
            if x.dtype.kind in "fc"
            else None
            for x in inputs
        )
        step = Step(name, inputs, moves, int(rng.integers(2**31)))
        if _has_kernel(step, tuple(x.dtype.name for x in inputs)):
            return step


_KERNELS: dict[tuple[str, tuple[str, ...]], bool] = {}


def _has_kernel(step: Step, dtypes: tuple[str, ...]) -> bool:
    """Whether TensorFlow runs a sample, and its gradient, with these dtypes; asked once."""
    key = (step.name, dtypes)
    if key not in _KERNELS:
        share = tf.constant(0.125, tf.float64)
        try:
            with tf.GradientTape() as tape:
                tape.watch(share)
                y = step(share, wide=False)
            tape.gradient(y, share)
            _KERNELS[key] = True
        except _REFUSED:
            _KERNELS[key] = False
    return _KERNELS[key]


def _in_kind(rng: np.random.Generator, x: Array, is_complex: bool, is_narrow: bool) -> Array:
    if x.dtype.kind not in "fc":
        return x
    if is_complex and x.dtype.kind == "f":
        x = x + 1j * rng.uniform(0.2, 0.6, x.shape) * rng.choice([-1, 1], x.shape)
        return x.astype(np.complex64 if is_narrow else np.complex128)
    narrow = {"float64": "float32", "complex128": "complex64"}
    return x.astype(narrow.get(x.dtype.name, x.dtype.name)) if is_narrow else x


_REFUSED = (TypeError, ValueError, LookupError, NotImplementedError, AttributeError, tf.errors.OpError)


def _runs(program: Program) -> bool:
    """Whether there is a derivative at all: not every gradient of TensorFlow has one itself."""
    if program.how != "second":
        return True
    try:
        return isinstance(program.asked(tf.constant(program.point)), tf.Tensor)
    except _REFUSED:
        return False


def slope_along(program: Program, direction: Array, stride: float = 1.0) -> tuple[Array, float] | None:
    """The slope of what is differentiated, and how far it can be trusted; None where differences do not settle.

    Some kernels compute in float32 whatever they are given. That shows where another stride finds another slope.
    """
    wide, point = _widened(program)

    def central(step: float) -> Array:
        ahead, behind = (
            program.plain((point + sign * step * direction).astype(point.dtype), wide) for sign in (1, -1)
        )
        return (ahead - behind) / (2 * step)

    step = stride * (2.0**-7 if wide else 2.0**-3)
    rough = [central(step), central(step / 2)]
    best = (4 * rough[1] - rough[0]) / 3
    spread = float(np.max(np.abs(best - rough[1])))  # far above what the extrapolated one is off
    size = float(np.max(np.abs(best))) + 1e-3
    if not np.isfinite(best).all() or spread > (1e-2 if wide else 1e-1) * size:
        return None
    return best, 0.01 * spread + (2e-6 if wide else 2e-2) * size


def _widened(program: Program) -> tuple[bool, Array]:
    """The point in float64, where the kernels have float64 and compute the same function in it.

    They need not: the sign of an eigenvector, say, is theirs to choose, and another in every dtype.
    """
    given = (program.point, *(x for step in program.steps for x in step.inputs))
    if not any(x.dtype.name in WIDE for x in given):
        return True, program.point
    point = program.point.astype(WIDE.get(program.point.dtype.name, program.point.dtype.name))
    try:
        wide, own = program.plain(point, True), program.plain(program.point, False)
    except _REFUSED:
        return False, program.point
    is_same = bool(np.all(np.abs(wide - own) <= 1e-3 * (1 + np.abs(wide))))
    return (True, point) if is_same else (False, program.point)
