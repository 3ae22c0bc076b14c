"""A step with a body of its own (`jit`, `cond`, `scan`, `checkpoint`), gone through op by op with its derivative.

JAX transposes such a step as a whole. So that the rules inside can be looked at alone, its body is linearised once
more on the numbers that it had: calls are opened, loops unrolled, branches taken as they were. A hand-written rule then
runs a second time, and only if it can be shown to have no effects.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import Any

from jax import lax
from jax._src import core, source_info_util
from jax._src.interpreters import ad
from jax._src.lax.control_flow.solves import linear_solve_p
from jax._src.tree_util import FlatTree

from gradproof.frontends.after.effects import effect_of
from gradproof.frontends.after.sandbox import sandbox
from gradproof.frontends.jax.observe.effects import is_noticed
from gradproof.frontends.jax.observe.notes import Body, Ending, JaxRuleRun
from gradproof.frontends.jax.observe.peel import Bottom
from gradproof.frontends.jax.observe.pieces import Pieces
from gradproof.frontends.jax.observe.session import JaxSession
from gradproof.frontends.jax.observe.trace import JaxCollection, numbers
from gradproof.frontends.jax.read.inlined import INLINED, opened
from gradproof.frontends.jax.read.roots import held_in
from gradproof.frontends.jax.read.where import written
from gradproof.frontends.record.source import is_users

_OWN_RULE = {"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "linear_call", "remat_opt"}
_CALLS = {name: key for name, key in INLINED.items() if name not in _OWN_RULE}
_RULES_IN = ("bwd", "fwd_jaxpr_thunk", "jvp_jaxpr_fun", "transpose_thunk")
MOST_TURNS = 1_000  # of loops inside one another; a longer one is not gone through again


def is_users_body(primitive: Any, params: Any) -> bool:
    """Whether a step runs functions of the user's, with rules inside; those of a linear equation are its own rule."""
    if primitive is linear_solve_p:
        return False
    inner = [*core.jaxprs_in_params(params)]
    for equation in _equations(params):
        inner += core.jaxprs_in_params(equation.params)
    places = (written(jaxpr.debug_info) for jaxpr in inner)
    return any(place is not None and is_users(place.file) for place in places)


def may_be_opened(body: Body) -> bool:
    """Whether it is a step to be gone through, and nobody notices that it runs again."""
    if not _is_opened(body.primitive, body.params):
        return False
    equations = list(_equations(body.params))
    loops = [step.params for step in (body, *equations) if step.primitive.name == "scan"]
    turns = math.prod(max(1, params["length"]) for params in loops)
    if turns > MOST_TURNS or any(map(is_noticed, core.jaxprs_in_params(body.params))):
        return False
    held = (equation.params.get(key) for equation in equations for key in _RULES_IN)
    functions = {function for one in held if one is not None for function in _users_functions(one)}
    return all(effect_of(function) is None for function in functions)


def _equations(params: Any) -> Iterator[Any]:
    for jaxpr in core.jaxprs_in_params(params):
        for equation in jaxpr.eqns:
            yield equation
            yield from _equations(equation.params)


def _users_functions(held: Any) -> Iterator[FunctionType]:
    for one in held_in(held):
        if isinstance(one, FunctionType) and is_users(one.__code__.co_filename):
            yield one


@contextmanager
def linearised(
    around: Ending, body: Body, arguments: Sequence[Any]
) -> Iterator[tuple[Ending, tuple[Any, ...]]]:
    """The body as a gradient call of its own, still without weights, and its results; its rules are noted in here."""
    session = JaxSession(lambda n: True, lambda ending: None)
    pieces = Pieces(session)
    moving = [x for x, tangent in zip(arguments, body.tangents_in) if tangent is not None]
    noted = replace(
        around.of,
        id=next(numbers),
        sources=tuple(map(Bottom, moving)),
        targets=(),
        forward=JaxCollection(),
        is_staged=False,
        pieces=[],
        exits=[],
        plain={},
        made={},
        tag=None,
        inner=[],
        own=set(),
        constant_uses={},
    )

    def function(*moved: Any) -> list[Any]:
        given = iter(moved)
        pairs = zip(arguments, body.tangents_in)
        return _run(body.primitive, body.params, [x if t is None else next(given) for x, t in pairs])

    rules: list[JaxRuleRun] = []
    with sandbox(), core.set_current_trace(core.eval_trace):
        with pieces.following(noted), session.recording(noted.forward):
            results, is_known, linear, residuals = ad.linearize(
                function, FlatTree.flatten(tuple(moving)), is_vjp=True
            )
        noted.targets, noted.residuals = tuple(map(Bottom, results)), tuple(map(Bottom, residuals))
        ending = Ending(next(numbers), noted, around.asked, (), (), JaxCollection(), linear=linear)
        ending.is_known = tuple(map(bool, is_known))
        with pieces.applying(noted, rules):
            yield ending, tuple(results)
        ending.rules = tuple(rules)


def _is_opened(primitive: Any, params: Any) -> bool:
    return primitive.name in (*_CALLS, "cond", "scan") and is_users_body(primitive, params)


def _run(primitive: Any, params: Any, inputs: Sequence[Any]) -> list[Any]:
    name = primitive.name if _is_opened(primitive, params) else None
    if name in _CALLS:
        return _evaluated(*opened(params[_CALLS[name]]), inputs)
    if name == "cond":
        branches = params["branches"]
        chosen = branches[min(max(int(inputs[0]), 0), len(branches) - 1)]
        return _evaluated(chosen.jaxpr, chosen.consts, inputs[1:])
    if name == "scan":
        return _unrolled(params, inputs)
    made = primitive.bind(*inputs, **primitive.get_bind_params(params))
    return list(made) if primitive.multiple_results else [made]


def _unrolled(params: Any, inputs: Sequence[Any]) -> list[Any]:
    n_consts, n_carry, length = params["num_consts"], params["num_carry"], params["length"]
    body, n_kept = params["jaxpr"], n_consts + n_carry
    consts, carry, xs = inputs[:n_consts], list(inputs[n_consts:n_kept]), inputs[n_kept:]
    rows: dict[int, list[Any]] = {}
    for turn in reversed(range(length)) if params["reverse"] else range(length):
        own = [lax.index_in_dim(x, turn, keepdims=False) for x in xs]
        made = _evaluated(body.jaxpr, body.consts, [*consts, *carry, *own])
        carry, rows[turn] = made[:n_carry], made[n_carry:]
    columns = zip(*(rows[turn] for turn in range(length)))
    return [*carry, *(lax.concatenate([lax.expand_dims(y, (0,)) for y in ys], 0) for ys in columns)]


def _evaluated(jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    env = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *inputs), strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, core.Literal) else env[atom]

    for equation in jaxpr.eqns:
        information = equation.source_info
        stack = source_info_util.current_name_stack() + information.name_stack
        with source_info_util.user_context(information.traceback, name_stack=stack), equation.ctx.manager:
            made = _run(equation.primitive, equation.params, [read(atom) for atom in equation.invars])
        env.update(zip(equation.outvars, made, strict=True))
    return [read(atom) for atom in jaxpr.outvars]
