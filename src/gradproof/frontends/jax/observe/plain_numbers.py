"""Python numbers that a function with a derivative of its own computes with in Python.

JAX gives such a function a Python number as it is, as a `float` of a class of JAX's. What Python computes with that
is heard here: the same numbers come out, and each is noted as the op of JAX's that it would have been.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jax import lax
from jax._src import dtypes
from jax._src.literals import TypedFloat

from gradproof.frontends.jax.observe.session import JaxSession
from gradproof.frontends.record.patches import Patch, apply

_BINARY = {"add": lax.add_p, "sub": lax.sub_p, "mul": lax.mul_p, "truediv": lax.div_p}
_UNARY = {"neg": lax.neg_p, "abs": lax.abs_p}


def fresh(number: float) -> Any:
    """The number as an object of its own, of the class that JAX would make of it."""
    own = dtypes.canonicalize_value(number)
    return TypedFloat(float(own), own.dtype) if type(own) is TypedFloat else number


def plain(value: Any, made: Mapping[int, Any]) -> Any:
    """What Python would have returned, had nobody listened."""
    return float(value) if id(value) in made else value


@contextmanager
def followed(session: JaxSession, made: dict[int, Any]) -> Iterator[None]:
    """While the block runs, arithmetic with JAX's Python numbers is noted; the results are kept in `made`."""

    def result(self: Any, value: Any, primitive: Any, args: tuple[Any, ...], **params: Any) -> Any:
        here = session.here
        if type(value) is not float or here.quiet or not here.collections:
            return value
        given = tuple(x if type(x) is TypedFloat else TypedFloat(float(x), self.dtype) for x in args)
        number = TypedFloat(value, self.dtype)
        made[id(number)] = number  # kept, so that no other one gets its address
        session.note(primitive, given, params, (number,))
        return number

    remove = apply([*_operators(result), *_shown(made)])
    try:
        yield
    finally:
        remove()


def _operators(result: Callable[..., Any]) -> Iterator[Patch]:
    for name, primitive in _BINARY.items():
        yield TypedFloat, f"__{name}__", _binary(name, primitive, result, is_turned=False)
        yield TypedFloat, f"__r{name}__", _binary(name, primitive, result, is_turned=True)
    for name, primitive in _UNARY.items():
        yield TypedFloat, f"__{name}__", _unary(name, primitive, result)
    yield TypedFloat, "__pow__", _power(result)
    yield TypedFloat, "__rpow__", _binary("pow", lax.pow_p, result, is_turned=True)


def _binary(name: str, primitive: Any, result: Any, is_turned: bool) -> Callable[[Any, Any], Any]:
    compute = getattr(float, f"__{'r' * is_turned}{name}__")

    def operate(self: Any, other: Any) -> Any:
        args = (other, self) if is_turned else (self, other)
        return result(self, compute(self, other), primitive, args)

    return operate


def _unary(name: str, primitive: Any, result: Any) -> Callable[[Any], Any]:
    compute = getattr(operator, name)
    return lambda self: result(self, compute(float(self)), primitive, (self,))


def _power(result: Any) -> Callable[..., Any]:
    def power(self: Any, other: Any, *modulus: Any) -> Any:
        value = float.__pow__(self, other, *modulus)
        if type(other) is int:
            return result(self, value, lax.integer_pow_p, (self,), y=other)
        return result(self, value, lax.pow_p, (self, other))

    return power


def _shown(made: dict[int, Any]) -> Iterator[Patch]:
    before = TypedFloat.__repr__
    yield TypedFloat, "__repr__", lambda self: float.__repr__(self) if id(self) in made else before(self)
