"""Loops, branches and equations of a jaxpr, run as they were: turn by turn, the branch that was taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax._src import core

from gradproof.errors import GradproofError
from gradproof.frontends.jax.observe.effects import NOT_TWICE, is_noticed, may_run
from gradproof.frontends.jax.observe.twin import twin
from gradproof.frontends.jax.read.ties import is_chosen_at_a_tie
from gradproof.frontends.record.model import Value
from gradproof.ir import types

if TYPE_CHECKING:
    from gradproof.frontends.jax.read.interpret import JaxprInterpreter
    from gradproof.frontends.jax.read.where import Where

SOLVED = 1e-2  # of the right-hand side: what iterations leave is smaller, another equation's solution is not
LARGEST_EQUATION = 64  # unknowns of a linear equation whose matrix is written out column by column


def scan(run: JaxprInterpreter, params: Any, inputs: list[Value], where: Where) -> list[Value]:
    n_consts, n_carry, length = params["num_consts"], params["num_carry"], params["length"]
    consts, carry, xs = inputs[:n_consts], inputs[n_consts : n_consts + n_carry], inputs[n_consts + n_carry :]
    turns = range(length - 1, -1, -1) if params["reverse"] else range(length)
    columns: list[dict[int, Value]] = [{} for _ in params["jaxpr"].out_avals[n_carry:]]
    for turn in turns:
        here = replace(where, loop=(*where.loop, turn))
        slices = [row_of(run, x, turn, here) for x in xs]
        results = run.run_closed(params["jaxpr"], [*consts, *carry, *slices], here)
        carry = results[:n_carry]
        for column, value in zip(columns, results[n_carry:]):
            column[turn] = value
        run.end_turn()
    avals = params["jaxpr"].out_avals[n_carry:]
    return [*carry, *(stacked(run, column, aval, where) for column, aval in zip(columns, avals))]


def row_of(run: JaxprInterpreter, x: Value, turn: int, where: Where) -> Value:
    result = run.values.new(run.values.array(x)[turn])
    run.emit("gradproof.row", [x], [result], {"row": turn}, where)
    return result


def stacked(run: JaxprInterpreter, rows: dict[int, Value], aval: Any, where: Where) -> Value:
    items = [rows[turn] for turn in range(len(rows))]
    if not items:
        return run.values.new(jnp.zeros((0, *aval.shape), aval.dtype))
    result = run.values.new(jnp.stack([run.values.array(item) for item in items]))
    run.emit("gradproof.stack", items, [result], {}, where)
    return result


def while_loop(run: JaxprInterpreter, params: Any, inputs: list[Value], where: Where) -> list[Value]:
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
    cond_consts, body_consts, carry = (
        inputs[:n_cond],
        inputs[n_cond : n_cond + n_body],
        inputs[n_cond + n_body :],
    )
    turn = 0
    while True:
        here = replace(where, loop=(*where.loop, turn))
        (goes_on,) = run.run_closed(params["cond_jaxpr"], [*cond_consts, *carry], here)
        going = np.asarray(run.values.array(goes_on))
        if going.ndim:
            raise GradproofError("a `while_loop` whose condition is batched is not followed")
        if not going:
            return carry
        carry = run.run_closed(params["body_jaxpr"], [*body_consts, *carry], here)
        run.end_turn()
        turn += 1


def cond(run: JaxprInterpreter, params: Any, inputs: list[Value], where: Where) -> list[Value]:
    branches = params["branches"]
    chosen = int(np.clip(int(np.asarray(run.values.array(inputs[0]))), 0, len(branches) - 1))
    is_pure = not any(branch.effects for branch in branches)
    is_tie = where.phase != "backward" and is_pure and is_chosen_at_a_tie(inputs[0], run.makers)
    if not is_tie or not all(may_run(branch.jaxpr) for branch in branches):
        return run.run_closed(branches[chosen], inputs[1:], where)
    cases = [run.run_closed(branch, inputs[1:], where) for branch in branches]
    return [_selected(run, inputs[0], chosen, results, where) for results in zip(*cases)]


def _selected(
    run: JaxprInterpreter, index: Value, chosen: int, cases: Sequence[Value], where: Where
) -> Value:
    """At a tie the branch beside the one that was taken is a part of the function, too."""
    taken = cases[chosen]
    if taken.dtype in ("none", "key") or types.is_discrete(taken.dtype):
        return taken
    result = run.values.new(twin(run.values.array(taken)))
    run.emit("select_n", [index, *cases], [result], {}, where)
    return result


def linear_solve(run: JaxprInterpreter, params: Any, inputs: list[Value], where: Where) -> list[Value]:
    """The solution x of a linear equation A x = b, whatever algorithm has found it.

    The algorithm works on constants (JAX stops the gradient there) and the derivative is that of the equation: its
    matrix is what the program's own product with A makes of the unit vectors.
    """
    counts, jaxprs = params["const_lengths"], params["jaxprs"]
    skipped = counts.matvec + counts.vecmat
    solve = inputs[skipped : skipped + counts.solve]
    b = inputs[skipped + counts.solve + counts.transpose_solve :]
    found = run.run_closed(jaxprs.solve, [*solve, *b], where)
    matrix_of = inputs[: counts.matvec]
    if is_noticed(jaxprs.matvec.jaxpr):
        raise GradproofError(NOT_TWICE.format(name="the product with the matrix"))
    if not _is_solved(run, jaxprs.matvec, matrix_of, found, b):
        return found  # what ran is the algorithm, whatever it was meant to be
    array = np.asarray(run.values.array(b[0]))
    apart = _independent_axes(run, jaxprs.matvec, matrix_of, array) if len(b) == 1 else None
    shape = tuple(1 if apart is None or axis in apart else n for axis, n in enumerate(array.shape))
    if apart is None or math.prod(shape) > LARGEST_EQUATION:
        results = [run.values.new(twin(run.values.array(value))) for value in found]
        run.emit("custom_linear_solve", [*matrix_of, *b], results, {}, where)
        return results
    columns = []
    for unit in np.eye(math.prod(shape)):
        units = np.broadcast_to(unit.reshape(shape), array.shape)
        (column,) = run.run_closed(
            jaxprs.matvec, [*matrix_of, run.values.new(jnp.asarray(units, array.dtype))], where
        )
        columns.append(column)
    result = run.values.new(twin(run.values.array(found[0])))
    run.emit("gradproof.solve", [*columns, *b], [result], {"apart": apart}, where)
    return [result]


def _is_solved(
    run: JaxprInterpreter, matvec: Any, matrix_of: list[Value], found: list[Value], b: list[Value]
) -> bool:
    """Whether the equation holds for what was found, as far as an iteration takes it."""
    given = [run.values.array(value) for value in (*matrix_of, *found)]
    made = core.eval_jaxpr(matvec.jaxpr, matvec.consts, *given)
    for one, value in zip(made, b):
        wanted = np.asarray(run.values.array(value))
        if np.max(np.abs(np.asarray(one) - wanted), initial=0.0) > SOLVED * np.max(
            np.abs(wanted), initial=0.0
        ):
            return False
    return True


def _independent_axes(run: JaxprInterpreter, matvec: Any, matrix_of: list[Value], b: Any) -> tuple[int, ...]:
    """The axes along which there are many equations, each with unknowns of its own.

    Along such an axis the product with A of what is zero in some places is zero in the same places.
    """
    given = [run.values.array(value) for value in matrix_of]
    numbers = np.random.default_rng(0)
    found = []
    for axis, n in enumerate(b.shape):
        is_kept = np.moveaxis(np.zeros(b.shape, bool), axis, 0)
        is_kept[:: 2 if n > 1 else 1] = True
        is_kept = np.moveaxis(is_kept, 0, axis)
        if n > 1 and all(
            not np.asarray(made)[~kept].any()
            for kept in (is_kept, ~is_kept)
            for made in core.eval_jaxpr(
                matvec.jaxpr,
                matvec.consts,
                *given,
                jnp.asarray(np.where(kept, numbers.normal(size=b.shape), 0.0), b.dtype),
            )
        ):
            found.append(axis)
    # A diagonal matrix is one that all axes stand apart for: one of them is left to have an equation.
    return tuple(found if len(found) < b.ndim else found[:-1])
