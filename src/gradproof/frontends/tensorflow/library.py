"""TensorFlow as a sweep sees it: public functions, and every raw op with a gradient, tried by their signatures."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from gradproof.frontends.library.model import (
    DIRECTIONS,
    FIRST,
    Entry,
    LibraryOp,
    Part,
    SweptLibrary,
    at,
    parts_of,
)
from gradproof.frontends.library.probe import Probe, probed
from gradproof.frontends.library.written import numbers_text
from gradproof.frontends.tensorflow.coverage import coverage
from gradproof.frontends.tensorflow.unlogged import unlogged
from gradproof.ir.types import Array

_MODULES = (
    "tf", "tf.math", "tf.math.special", "tf.nn", "tf.linalg", "tf.signal", "tf.image", "tf.keras.activations",
    "tf.keras.losses",
)  # fmt: skip

# Their documentation leaves the gradient open where labels are no distribution, or a least value is larger than the
# largest, which no signature tells; or says that it is passed on as if nothing had been rounded.
_LEFT_OPEN = ("softmaxcrossentropywithlogits", "fakequant", "quantizeanddequantize", "clipbyvalue")


def library() -> SweptLibrary:
    return SweptLibrary(
        framework="tensorflow",
        header=("import tensorflow as tf",),
        ops=_ops,
        array_text=_array_text,
        constant=tf.constant,
        total="tf.reduce_sum({})",
        real="tf.math.real({})",
        parts=_parts,
        gradient=_gradient,
        slope=_slope,
        modes={
            "graph": functools.partial(_traced, False),
            "xla": functools.partial(_traced, True),
            "forward": _forward,
        },
        mode_lines={
            "graph": functools.partial(_traced_lines, ""),
            "xla": functools.partial(_traced_lines, "(jit_compile=True)"),
            "forward": _forward_lines,
        },
    )


def _ops() -> list[LibraryOp]:
    public, raw = Probe(_evaluate), Probe(_evaluate, by_keyword=True)
    found = [probed(public, path, function) for path, function in sorted(_functions())]
    covered, opaque, *_ = coverage()
    names = [name for name in sorted({*covered, *opaque}) if hasattr(tf.raw_ops, name)]
    found += [probed(raw, f"tf.raw_ops.{name}", getattr(tf.raw_ops, name)) for name in names]
    return [LibraryOp(op.name, lambda dtype: iter(())) if is_left_open(op.name) else op for op in found]


def is_left_open(name: str) -> bool:
    plain = name.rpartition(".")[2].replace("_", "").lower()
    return plain.startswith(_LEFT_OPEN)


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Each function once, under the first name that it has."""
    seen: set[int] = set()
    for prefix in _MODULES:
        try:
            module = operator.attrgetter(prefix.removeprefix("tf."))(tf) if prefix != "tf" else tf
        except AttributeError:
            continue
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if name.startswith("_") or isinstance(value, type) or not callable(value) or id(value) in seen:
                continue
            seen.add(id(value))
            yield f"{prefix}.{name}", value


def _evaluate(call: str, arrays: Mapping[str, Array]) -> bool:
    space: dict[str, Any] = {"tf": tf, **{key: tf.constant(x) for key, x in arrays.items()}}
    try:
        result = eval(call, space)
        numbers = [x for x in tf.nest.flatten(result) if _is_number(x)]
        return bool(_parts(result)) and all(bool(np.isfinite(x.numpy()).all()) for x in numbers)
    except Exception:
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and (value.dtype.is_floating or value.dtype.is_complex)


def _parts(result: Any) -> list[Part]:
    return parts_of(result, _is_number, _part)


def _part(pick: str, value: Any) -> Part:
    return Part(pick, tuple(value.shape), value.dtype.name, value.dtype.is_complex)


def _array_text(array: Array) -> str:
    if array.size == 0:
        return f"tf.zeros({array.shape!r}, dtype=tf.{array.dtype})"
    return f"tf.constant({numbers_text(array)}, dtype=tf.{array.dtype})"


def _gradient(names: Sequence[str], wrt: str, entry: Entry | None) -> list[str]:
    number = "" if entry is None else f"{at(entry)}.numpy()"
    return [
        "with tf.GradientTape() as tape:",
        f"    tape.watch({wrt})",
        f"    target = f({', '.join(names)})",
        f"print(tape.gradient(target, {wrt}){number})",
    ]


def _slope(names: Sequence[str]) -> list[str]:
    return [
        "with tf.GradientTape() as inner:",
        f"    inner.watch({names[0]})",
        f"    value = {FIRST}({', '.join(names)})",
        f"return tf.reduce_sum(tf.convert_to_tensor(inner.gradient(value, {names[0]})) * {DIRECTIONS})",
    ]


def _reverse(function: Callable[..., Any], args: Sequence[Any], place: int) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(args[place])
        target = function(*args)
    return tf.convert_to_tensor(tape.gradient(target, args[place]))


def _traced(
    is_compiled: bool, function: Callable[..., Any], args: Sequence[Any], place: int, entries: Sequence[Entry]
) -> list[float]:
    with unlogged():
        found = _compiled(function, place, is_compiled)(*args).numpy()
    return [float(found[entry]) for entry in entries]


@functools.lru_cache(maxsize=8)
def _compiled(function: Callable[..., Any], place: int, is_compiled: bool) -> Any:
    return tf.function(lambda *xs: _reverse(function, xs, place), jit_compile=is_compiled, autograph=False)


def _traced_lines(how: str, names: Sequence[str], wrt: str, entry: Entry) -> list[str]:
    given = ", ".join(names)
    return [
        f"@tf.function{how}",
        f"def gradient({given}):",
        "    with tf.GradientTape() as tape:",
        f"        tape.watch({wrt})",
        f"        target = f({given})",
        f"    return tf.convert_to_tensor(tape.gradient(target, {wrt}))",
        "",
        "",
        f"print(gradient({given}){at(entry)}.numpy())",
    ]


def _forward(
    function: Callable[..., Any], args: Sequence[Any], place: int, entries: Sequence[Entry]
) -> list[float]:
    found = []
    for entry in entries:
        unit = np.zeros(args[place].shape, args[place].dtype.as_numpy_dtype)
        unit[entry] = 1.0
        with tf.autodiff.ForwardAccumulator(args[place], tf.constant(unit)) as forward:
            target = function(*args)
        found.append(float(forward.jvp(target).numpy()))
    return found


def _forward_lines(names: Sequence[str], wrt: str, entry: Entry) -> list[str]:
    index = "" if not entry else f"[{list(entry)}], [1.0], "
    unit = f"tf.ones_like({wrt})" if not entry else f"tf.cast(tf.scatter_nd({index}{wrt}.shape), {wrt}.dtype)"
    return [
        f"with tf.autodiff.ForwardAccumulator({wrt}, {unit}) as forward:",
        f"    target = f({', '.join(names)})",
        "print(forward.jvp(target).numpy())",
    ]
