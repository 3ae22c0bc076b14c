"""Type checkers are told of every operator that an array has, and of no other."""

from __future__ import annotations

from gradproof.tape import operators
from gradproof.tape.array import Array
from gradproof.tape.operator_types import ArrayOperators


def test_what_type_checkers_see_is_what_there_is() -> None:
    told = {name for name, value in vars(ArrayOperators).items() if callable(value)}
    binary = {f"__{side}{name}__" for name in operators._BINARY for side in ("", "r")}
    compared = {
        f"__{name}__" for name in operators._COMPARISONS if name not in ("eq", "ne")
    }  # every object has those
    assert told == binary | compared | {f"__{name}__" for name in operators._UNARY}
    assert all(vars(Array)[name] is not vars(ArrayOperators)[name] for name in told)
