"""Einstein sums of any number of arrays, reduced to diagonals, sums, transposes and matrix products."""

from __future__ import annotations

import math
import string
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.errors import InvalidProgram
from gradproof.ops._op import ANY, Sample, op

ELLIPSIS = "..."


@dataclass(frozen=True)
class _Term:
    """One operand: its value, and one letter per axis."""

    value: Any
    letters: str


@dataclass(frozen=True)
class _Plan:
    """An equation without ellipses, with the length every letter stands for."""

    operands: tuple[str, ...]
    result: str
    sizes: dict[str, int]


def _plan(equation: str, shapes: list[tuple[int, ...]]) -> _Plan:
    left, arrow, right = equation.replace(" ", "").partition("->")
    given = left.split(",")
    if len(given) != len(shapes):
        raise InvalidProgram(f"the equation {equation!r} names {len(given)} operands, but {len(shapes)} came")
    right = right if arrow else _implicit_result(given)
    free = [letter for letter in string.ascii_letters if letter not in equation]
    widest = max(
        (
            len(shape) - len(term.replace(ELLIPSIS, ""))
            for term, shape in zip(given, shapes)
            if ELLIPSIS in term
        ),
        default=0,
    )
    batch = "".join(free[:widest])
    operands = []
    for term, shape in zip(given, shapes):
        own = len(shape) - len(term.replace(ELLIPSIS, ""))
        operands.append(term.replace(ELLIPSIS, batch[widest - own :] if own else ""))
        if len(operands[-1]) != len(shape):
            raise InvalidProgram(
                f"{term!r} in the equation {equation!r} does not fit an operand of shape {shape}"
            )
    sizes: dict[str, int] = {}
    for letters, shape in zip(operands, shapes):
        for letter, n in zip(letters, shape):
            if sizes.setdefault(letter, n) not in (1, n) and n != 1:
                raise InvalidProgram(
                    f"{letter!r} in the equation {equation!r} stands for lengths {sizes[letter]} and {n}"
                )
            sizes[letter] = n if sizes[letter] == 1 else sizes[letter]
    right = right.replace(ELLIPSIS, batch)
    if not set(right) <= set(sizes):
        raise InvalidProgram(f"the result of the equation {equation!r} has an index that no operand has")
    return _Plan(tuple(operands), right, sizes)


def _implicit_result(given: list[str]) -> str:
    """Without an arrow: the ellipsis, then every letter that occurs once, in alphabetical order."""
    letters = "".join(given).replace(ELLIPSIS, "")
    once = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    return (ELLIPSIS if any(ELLIPSIS in term for term in given) else "") + once


def _einsum(m: Any, *xs: Any, equation: str) -> Any:
    plan = _plan(equation, [tuple(np.shape(x)) for x in xs])
    terms = [_simplified(m, _Term(x, letters), plan) for x, letters in zip(xs, plan.operands)]
    while len(terms) > 1:
        # What the remaining operands and the result still need must survive this product.
        needed = set(plan.result).union(*(term.letters for term in terms[2:]))
        terms = [_product(m, terms[0], terms[1], needed, plan.sizes), *terms[2:]]
    term = _summed(m, terms[0], set(plan.result))
    y = m.transpose(
        term.value,
        order=tuple(term.letters.index(letter) for letter in plan.result if letter in term.letters),
    )
    shape = tuple(plan.sizes[letter] for letter in plan.result)
    kept = tuple(plan.sizes[letter] if letter in term.letters else 1 for letter in plan.result)
    return m.broadcast(m.reshape(y, shape=kept), shape=shape)


def _simplified(m: Any, term: _Term, plan: _Plan) -> _Term:
    """The operand with every letter once: repeated letters become diagonals, broadcast axes disappear."""
    value, letters = term.value, term.letters
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            value = _diagonal(m, value, first, second)
            letters = letters[:second] + letters[second + 1 :]
    kept = "".join(letter for letter, n in zip(letters, value.shape) if n == plan.sizes[letter])
    shape = tuple(plan.sizes[letter] for letter in kept)
    return _Term(m.reshape(value, shape=shape), kept)


def _diagonal(m: Any, x: Any, first: int, second: int) -> Any:
    # NumPy puts the diagonal last; it belongs where the first of the two axes was.
    return m.domain.lift(lambda v: np.moveaxis(np.diagonal(v, axis1=first, axis2=second), -1, first), x)


def _summed(m: Any, term: _Term, needed: set[str]) -> _Term:
    axes = tuple(axis for axis, letter in enumerate(term.letters) if letter not in needed)
    if not axes:
        return term
    return _Term(m.sum(term.value, axes=axes), "".join(letter for letter in term.letters if letter in needed))


def _product(m: Any, a: _Term, b: _Term, needed: set[str], sizes: dict[str, int]) -> _Term:
    """Both operands as stacks of matrices (shared letters that survive, own letters, contracted letters)."""
    a, b = _summed(m, a, needed | set(b.letters)), _summed(m, b, needed | set(a.letters))
    shared = [letter for letter in a.letters if letter in b.letters]
    batch = "".join(letter for letter in shared if letter in needed)
    inner = "".join(letter for letter in shared if letter not in needed)
    rows = "".join(letter for letter in a.letters if letter not in shared)
    columns = "".join(letter for letter in b.letters if letter not in shared)
    left = _as_matrices(m, a, batch, rows, inner, sizes)
    right = _as_matrices(m, b, batch, inner, columns, sizes)
    letters = batch + rows + columns
    return _Term(m.reshape(m.matmul(left, right), shape=tuple(sizes[letter] for letter in letters)), letters)


def _as_matrices(m: Any, term: _Term, batch: str, rows: str, columns: str, sizes: dict[str, int]) -> Any:
    order = tuple(term.letters.index(letter) for letter in batch + rows + columns)
    shape = tuple(math.prod(sizes[letter] for letter in group) for group in (rows, columns))
    return m.reshape(
        m.transpose(term.value, order=order), shape=(*(sizes[letter] for letter in batch), *shape)
    )


def _einsum_pullback(m: Any, i: int, gy: Any, y: Any, *xs: Any, equation: str) -> Any:
    """The result takes the place of operand `i`; what was summed alone is repeated, diagonals put back."""
    shape = tuple(np.shape(xs[i]))
    plan = _plan(equation, [tuple(np.shape(x)) for x in xs])
    letters = plan.operands[i]
    others = [k for k in range(len(xs)) if k != i]
    # Axes that this operand lends to others by broadcasting are summed over, like every letter it lacks.
    own = dict.fromkeys(letter for letter, n in zip(letters, shape) if n == plan.sizes[letter])
    met = {
        letter for k in others for letter, n in zip(plan.operands[k], xs[k].shape) if n == plan.sizes[letter]
    }
    found = "".join(letter for letter in own if letter in plan.result or letter in met)
    left = ",".join([plan.result, *(plan.operands[k] for k in others)])
    gx = m.einsum(gy, *(m.conj(xs[k]) for k in others), equation=f"{left}->{found}")
    once = tuple(dict.fromkeys(letters))
    kept = tuple(plan.sizes[letter] if letter in found else 1 for letter in once)
    full = tuple(shape[letters.index(letter)] for letter in once)
    gx = m.broadcast(m.reshape(gx, shape=kept), shape=full)
    return gx if len(once) == len(letters) else _on_diagonals(m, gx, "".join(once), letters, shape)


def _on_diagonals(m: Any, x: Any, once: str, letters: str, shape: tuple[int, ...]) -> Any:
    """Entries of `x` where the indices of equal letters agree, zero elsewhere."""
    first = [letters.index(letter) == axis for axis, letter in enumerate(letters)]
    spread = tuple(n if is_first else 1 for n, is_first in zip(shape, first))
    indices = np.indices(shape, sparse=True)
    agrees = np.ones(shape, bool)
    for axis, letter in enumerate(letters):
        agrees &= indices[axis] == indices[letters.index(letter)]
    return m.select(agrees, m.broadcast(m.reshape(x, shape=spread), shape=shape), m.zeros(()))


_A = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))
_B = ((1.0, -1.0), (0.25, 2.0), (3.0, 0.5))
_SQUARE = ((1.0, -1.0), (0.25, 2.0))
_STACK = (_B, ((0.5, 8.0), (-1.0, 4.0), (2.0, 0.75)))

# Letters are axes, "..." stands for any further ones, which broadcast.
op(
    "einsum",
    forward=_einsum,
    pullback=_einsum_pullback,
    linear="each",
    samples=(
        Sample((_A, _B), {"equation": "ij,jk->ik"}),
        Sample((_A, _B), {"equation": "ij,jk->ki"}),
        Sample((_STACK, _B), {"equation": "...ij,kj->...ik"}),
        Sample((_SQUARE,), {"equation": "ii->i"}),
        Sample((_SQUARE, (3.0, -2.0)), {"equation": "ii,j->j"}),
        Sample((_SQUARE,), {"equation": "ij->"}),
        Sample(((1.0, -2.0), (3.0, 0.5, 4.0)), {"equation": "i,j->ij"}),
        Sample((_A, _B, _SQUARE), {"equation": "ij,jk,kl"}),
        Sample((((1.0,), (2.0,)), _A), {"equation": "...a,...a->..."}),
        Sample((((1.0 + 2.0j, -0.5j),), ((2.0 - 1.0j,), (1.0j,))), {"equation": "ij,jk->ik"}),
    ),
    kinds=ANY,
)
