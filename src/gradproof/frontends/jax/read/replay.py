"""The backward pass once more, step by step, so that each rule can be looked at alone.

JAX adds up what reaches a variable from all sides. Here the equations of every step of the function are transposed by
themselves, with the gradient that came in, by JAX's own rules. Hand-written reverse rules are not called again: what
they returned was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax._src import core
from jax._src.ad_util import Zero
from jax._src.interpreters import ad
from jax._src.lax.lax import copy_p

from gradproof.frontends.jax.observe.notes import Body, Ending, JaxPiece, JaxRuleRun
from gradproof.frontends.jax.observe.peel import Bottom
from gradproof.frontends.jax.observe.trace import JaxEvent, RecordTrace, numbers, places_here
from gradproof.frontends.jax.read.opened import linearised, may_be_opened

Find = Callable[[Bottom], Any]
"""The array that stands at the bottom of a value."""


@dataclass(frozen=True)
class Applied:
    """One step transposed alone: what came in for its outputs, what it gave to its inputs; None is zero."""

    piece: JaxPiece
    upstream: tuple[Any, ...]
    results: tuple[Any, ...]


@dataclass(eq=False)
class JaxReplay:
    """All steps from the last to the first, the primitives that they ran, and the gradients at the end.

    `opened` are the steps with bodies of the user's, as gradient calls of their own; `forward` is what they ran."""

    forward: list[JaxEvent] = field(default_factory=list)
    opened: list[Ending] = field(default_factory=list)
    events: list[JaxEvent] = field(default_factory=list)
    applied: list[Applied] = field(default_factory=list)
    results: tuple[Any, ...] = ()


def replayed(ending: Ending, find: Find) -> JaxReplay:
    """Run the backward pass of a gradient call again; `find` gives the arrays of what was noted."""
    made = JaxReplay()
    trace = RecordTrace(_noting(made.events))
    jaxpr = ending.linear
    known = dict(zip(jaxpr.constvars, map(find, ending.of.residuals), strict=True))
    cts: dict[Any, Any] = {}
    weights = [find(one) for one, skip in zip(ending.weights, ending.is_known, strict=True) if not skip]
    ran = {run.piece: run for run in ending.rules}
    with core.set_current_trace(trace):
        for atom, weight in zip(jaxpr.outvars, weights, strict=True):
            # What goes in is made by a step, too, so that the last rule can be tried with other numbers.
            _add(cts, atom, copy_p.bind(weight))
        for piece, equations in reversed(_groups(jaxpr, ending.of.pieces)):
            made.applied += _apply(
                piece, equations, jaxpr, known, cts, ran, find, partial(_open, made, ending, find)
            )
    made.results = tuple(cts.get(var) for var in jaxpr.invars)
    return made


def _noting(events: list[JaxEvent]) -> Callable[..., None]:
    def note(primitive: Any, args: Any, params: Any, outputs: Any) -> None:
        places = places_here(2)
        events.append(JaxEvent(next(numbers), primitive, params, tuple(args), tuple(outputs), places, ""))

    return note


def _add(cts: dict[Any, Any], atom: Any, ct: Any) -> None:
    if isinstance(atom, core.Literal) or ct is None or type(ct) is Zero:
        return
    cts[atom] = ct if atom not in cts else ad.add_jaxvals(cts[atom], ct)


def _groups(jaxpr: Any, pieces: Iterable[JaxPiece]) -> list[tuple[JaxPiece | None, list[Any]]]:
    """The equations of every step, in order; what belongs to none stands alone."""
    makers = {var: equation for equation in jaxpr.eqns for var in equation.outvars}
    owner: dict[int, JaxPiece] = {}
    for piece in pieces:
        pending = list(piece.tangents_out)
        while pending:
            var = pending.pop()
            equation = None if var in piece.tangents_in else makers.get(var)
            if equation is not None and id(equation) not in owner:
                owner[id(equation)] = piece
                pending += [x for x in equation.invars if not isinstance(x, core.Literal)]
    groups: list[tuple[JaxPiece | None, list[Any]]] = []
    for equation in jaxpr.eqns:
        piece_or_none = owner.get(id(equation))
        if groups and piece_or_none is not None and groups[-1][0] is piece_or_none:
            groups[-1][1].append(equation)
        else:
            groups.append((piece_or_none, [equation]))
    return groups


def _apply(
    piece: JaxPiece | None,
    equations: Sequence[Any],
    jaxpr: Any,
    known: dict[Any, Any],
    cts: dict[Any, Any],
    ran: dict[int, JaxRuleRun],
    find: Find,
    open_body: Callable[[Body, dict[Any, Any]], dict[Any, Any] | None],
) -> list[Applied]:
    made = {var for equation in equations for var in equation.outvars}
    read = dict.fromkeys(
        x
        for equation in equations
        for x in equation.invars
        if not isinstance(x, core.Literal) and x not in made
    )
    linear = [var for var in read if var not in known]
    outputs = [var for var in made if var in cts]
    if not outputs:
        return []
    came_in = {var: _turned_twice(cts.pop(var)) for var in outputs}
    upstream = {var: pair[1] for var, pair in came_in.items()}
    run = None if piece is None else ran.get(piece.id)
    inside = None if piece is None or piece.body is None else open_body(piece.body, upstream)
    if inside is not None:
        given = inside
    elif piece is not None and run is not None:
        given = _returned(run, equations, find)
    else:
        given = _transposed(equations, jaxpr, known, list(read), linear, upstream)
    went_out = {var: _turned_twice(ct) for var, ct in given.items()}
    for var, (_, ct) in went_out.items():
        _add(cts, var, ct)
    if piece is None:
        return []
    results = tuple(went_out.get(var, (None, None))[0] for var in piece.tangents_in)
    turned = {var: pair[0] for var, pair in came_in.items()}
    return [Applied(piece, tuple(turned.get(var) for var in piece.tangents_out), results)]


def _open(
    made: JaxReplay, ending: Ending, find: Find, body: Body, upstream: dict[Any, Any]
) -> dict[Any, Any] | None:
    """What a step gave to each variable, with the rules inside of it looked at alone; None where it stays closed."""
    if not may_be_opened(body):
        return None
    with linearised(ending, body, [find(one) for one in body.arguments]) as (own, results):
        pairs = zip(body.tangents_out, results, strict=True)
        own.weights = tuple(Bottom(upstream[t] if t in upstream else lax.full_like(y, 0)) for t, y in pairs)
        replay = replayed(own, lambda one: one.value)
    made.forward += [*own.of.forward.events, *replay.forward]
    made.opened += [own, *replay.opened]
    made.events += replay.events
    made.applied += replay.applied
    given: dict[Any, Any] = {}
    moving = [tangent for tangent in body.tangents_in if tangent is not None]
    for tangent, ct in zip(moving, replay.results, strict=True):
        _add(given, tangent, ct)
    return given


def _turned(ct: Any) -> Any:
    """What the judge calls the gradient of a complex number: the conjugate of what JAX does."""
    return ct if ct is None or not jnp.iscomplexobj(ct) else lax.conj(ct)


def _turned_twice(ct: Any) -> tuple[Any, Any]:
    """The gradient as the judge speaks of it, and JAX's made of that: what follows is computed from both."""
    turned = _turned(ct)
    return turned, _turned(turned)


def _returned(run: JaxRuleRun, equations: Sequence[Any], find: Find) -> dict[Any, Any]:
    """What a hand-written rule gave to each variable; for one that it was handed twice, the sum of both."""
    given: dict[Any, Any] = {}
    (rule,) = (one for one in equations if one.primitive is ad.custom_lin_p)
    for var, one in zip(rule.invars[rule.params["num_res"] :], run.results, strict=True):
        _add(given, var, None if one is None else find(one))
    return given


def _transposed(
    equations: Sequence[Any],
    jaxpr: Any,
    known: dict[Any, Any],
    read: list[Any],
    linear: list[Any],
    upstream: dict[Any, Any],
) -> dict[Any, Any]:
    """What reaches the linear inputs of some equations, by JAX's own rules."""
    outputs = list(upstream)
    part = jaxpr.replace(
        constvars=[],
        invars=read,
        outvars=outputs,
        eqns=list(equations),
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )
    sums = {var: ad.ValAccum(var.aval.to_ct_aval()) for var in linear}
    inputs = [sums[var] if var in sums else known[var] for var in read]
    ad.backward_pass3(part, False, (), inputs, [upstream[var] for var in outputs])
    frozen = {var: one.freeze() for var, one in sums.items()}
    return {var: None if type(ct) is Zero else ct for var, ct in frozen.items()}
