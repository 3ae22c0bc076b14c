"""What a function is differentiated for, inside of it and outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradproof.errors import GradproofError
from gradproof.frontends.jax.observe.notes import Ending, Folded

SHARED = (
    "inside `jit`, the function uses what it is differentiated for as a constant too, and a jaxpr does not tell the "
    "two apart"
)


@dataclass(frozen=True)
class Inside:
    """What a function is differentiated for is another value inside of it: outside, it is a constant.

    `own` are the variables that the function and its derivative define; see `observe.shared`. A source is a variable
    of the jaxpr, or an array that was there before it was traced.
    """

    sources: frozenset[Any] = frozenset()
    arrays: tuple[Any, ...] = ()
    own: frozenset[Any] = frozenset()
    constant_uses: Mapping[Any, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    folded: Mapping[int, Folded] = field(default_factory=dict)

    @classmethod
    def around(cls, ending: Ending) -> Inside:
        of = ending.of
        sources = frozenset(one.value for one in of.sources if one.is_staged)
        arrays = tuple(one.value for one in of.sources if not one.is_staged)
        return cls(sources, arrays, frozenset(of.own | ending.own), of.constant_uses, of.folded)

    def constants_of(self, equation: Any) -> tuple[int, ...] | None:
        """The operands that an equation takes as constants; None where it is no part of the function."""
        defined = next((var for var in equation.outvars if var in self.own), None)
        if defined is None:
            return None
        known = self.constant_uses.get(defined)
        if known is not None and known[0] != equation.primitive.name:
            raise GradproofError(SHARED)
        return () if known is None else known[1]

    def folded_into(self, number: Any) -> Folded | None:
        """What JAX computed while tracing instead of writing it down, where a constant is its result."""
        found = self.folded.get(id(number))
        return found if found is not None and found.result is number else None
