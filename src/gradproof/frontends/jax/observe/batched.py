"""A compiled function under `vmap`: its jaxpr once more, op by op, with all examples at once.

What it computes gradients of then has numbers, with the axes that `vmap` added, as in a call that is not compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jax._src import core, source_info_util
from jax._src.interpreters import batching

from gradproof.frontends.jax.observe.notes import Ending, Execution
from gradproof.frontends.jax.observe.peel import Bottom, bottom
from gradproof.frontends.jax.observe.session import JaxSession
from gradproof.frontends.jax.observe.trace import JaxCollection, numbers
from gradproof.frontends.record.model import RETURN_OP

# Calls that are gone into, by the name of the primitive, and where they keep their jaxpr.
_CALLS = {
    "jit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
}


@dataclass(frozen=True)
class JaxReturn:
    """What the user's own run returned for a number that was computed again."""

    name: str = RETURN_OP
    multiple_results: bool = False


def is_batched_only(args: Iterable[Any]) -> bool:
    """Whether nothing but `vmap` is around: what is run again would leave its marks on other transformations."""
    tracers = [x for x in args if isinstance(x, core.Tracer)]
    return bool(tracers) and all(map(_is_batched, tracers))


def _is_batched(x: Any) -> bool:
    while isinstance(x, batching.BatchTracer):
        x = x.val
    return not isinstance(x, core.Tracer)


def heard(
    session: JaxSession, ending: Ending, execution: Execution, args: Sequence[Any], outputs: Sequence[Any]
) -> Ending:
    """The gradient call with the numbers that it had for all examples."""
    seen: dict[Any, Bottom] = {}
    collection = JaxCollection()
    with session.recording(collection):
        _follow(execution.jaxpr.jaxpr, execution.jaxpr.consts, args, seen)

    def found(one: Bottom | None) -> Any:
        return seen[one.value] if one is not None and one.is_staged else one

    def all_of(group: Iterable[Bottom | None]) -> Any:
        return tuple(map(found, group))

    returned = {
        var: bottom(x)
        for var, x in zip(execution.jaxpr.jaxpr.outvars, outputs)
        if not isinstance(var, core.Literal)
    }
    results: list[Bottom] = []
    with session.recording(collection):
        for one, own in zip(ending.results, all_of(ending.results)):
            given = returned.get(one.value) if one.is_staged else None
            if given is not None and given.batch_axes == own.batch_axes:
                session.note(JaxReturn(), (own.value,), {}, (given.value,))
                own = given
            results.append(own)
    of = replace(
        ending.of,
        sources=all_of(ending.of.sources),
        targets=all_of(ending.of.targets),
        residuals=(),
        forward=collection,
        is_staged=False,
        inner=[],
        pieces=[
            replace(piece, inputs=all_of(piece.inputs), outputs=all_of(piece.outputs))
            for piece in ending.of.pieces
        ],
    )
    rules = tuple(
        replace(rule, upstream=all_of(rule.upstream), results=all_of(rule.results)) for rule in ending.rules
    )
    return replace(
        ending,
        id=next(numbers),
        of=of,
        rules=rules,
        weights=all_of(ending.weights),
        results=tuple(results),
        execution=execution,
        is_heard=True,
    )


def _follow(jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], seen: dict[Any, Bottom]) -> list[Any]:
    env: dict[Any, Any] = {}

    def bind(variables: Iterable[Any], values: Iterable[Any]) -> None:
        for var, value in zip(variables, values, strict=True):
            env[var] = value
            seen.setdefault(var, bottom(value))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, core.Literal) else env[atom]

    bind(jaxpr.constvars, consts)
    bind(jaxpr.invars, args)
    for equation in jaxpr.eqns:
        primitive, information = equation.primitive, equation.source_info
        stack = source_info_util.current_name_stack() + information.name_stack
        inputs = [read(atom) for atom in equation.invars]
        with source_info_util.user_context(information.traceback, name_stack=stack), equation.ctx.manager:
            inner = equation.params[_CALLS[primitive.name]] if primitive.name in _CALLS else None
            if isinstance(inner, core.ClosedJaxpr):
                made = _follow(inner.jaxpr, inner.consts, inputs, seen)
            elif inner is not None:
                made = _follow(inner, (), inputs, seen)
            else:
                made = primitive.bind(*inputs, **primitive.get_bind_params(equation.params))
                made = made if primitive.multiple_results else [made]
        bind(equation.outvars, made)
    return [read(atom) for atom in jaxpr.outvars]
