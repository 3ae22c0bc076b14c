"""What a traced function is differentiated for, told apart from the same variable as a constant.

In a jaxpr both are one variable, and what is computed from it outside of the function is a constant for it too. So it
is noted while tracing which equations belong to the function, and where one of them takes the variable as a constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ReferenceType

from jax._src import core
from jax._src.interpreters import ad
from jax._src.interpreters import partial_eval as pe

from gradproof.frontends.jax.observe.notes import Folded, Linearisation
from gradproof.frontends.jax.observe.peel import bottom, ground
from gradproof.frontends.record.patches import apply, wrap

_BODIES = ("jaxpr", "call_jaxpr", "branches", "jaxprs", "body_jaxpr")


@contextmanager
def equations_into(found: set[Any]) -> Iterator[None]:
    """The variables that equations define which are traced in this block."""
    frame = getattr(ground(core.trace_ctx.trace), "frame", None)
    before = 0 if frame is None else len(frame.tracing_eqns)
    try:
        yield
    finally:
        for one in () if frame is None else frame.tracing_eqns[before:]:
            equation = one() if isinstance(one, ReferenceType) else one
            found.update(() if equation is None else equation.outvars)


@contextmanager
def watching(noted: Linearisation, is_forward: bool = False) -> Iterator[None]:
    """While the function is traced, look at every value that a primitive is given."""
    sources = {one.value for one in noted.sources if one.is_staged}
    # Arrays that were there before the function was traced.
    known = {id(one.value) for one in noted.sources if not one.is_staged}
    trace_class, tracer_class = (
        (ad.JVPTrace, ad.JVPTracer) if is_forward else (ad.LinearizeTrace, ad.LinearizeTracer)
    )
    # One array, given twice.
    noted.is_shared = len({id(one.value) for one in noted.sources}) < len(noted.sources)
    told: list[Any] = []

    def is_constant(trace: Any, value: Any) -> bool:
        if trace.tag is not noted.tag or (isinstance(value, tracer_class) and value._trace.tag is trace.tag):
            return False
        try:
            found = bottom(value)
        except NotImplementedError:
            return False
        return found.value in sources if found.is_staged else id(found.value) in known

    def look(original: Any, trace: Any, value: Any) -> Any:
        if not told and not noted.is_shared:
            noted.is_shared = is_constant(trace, value)
        return original(trace, value)

    def primitive(original: Any, trace: Any, primitive: Any, tracers: Any, params: Any, /) -> Any:
        places = tuple(k for k, x in enumerate(tracers) if is_constant(trace, x))
        is_plain = primitive.name == "jit" or not any(name in params for name in _BODIES)
        if not places or not is_plain:
            return original(trace, primitive, tracers, params)
        told.append(primitive)
        try:
            result = original(trace, primitive, tracers, params)
        finally:
            told.pop()
        made = bottom((result if primitive.multiple_results else [result])[0]).value
        noted.constant_uses[made] = _written(primitive, params, places)
        return result

    remove = apply(
        [
            wrap(trace_class, "to_primal_tangent_pair", look),
            wrap(trace_class, "process_primitive", primitive),
        ]
    )
    try:
        with equations_into(noted.own), folding(noted):
            yield
    finally:
        remove()


@contextmanager
def folding(noted: Linearisation) -> Iterator[None]:
    """What JAX computes with known numbers while it traces, and does not write into the jaxpr, is kept."""

    def fold(original: Any, primitive: Any, tracers: Any, params: Any, avals: Any) -> Any:
        made = original(primitive, tracers, params, avals)
        operands = () if made is None else tuple(tracer.get_const() for tracer in tracers)
        if made is not None and all(made[0] is not one for one in operands):
            noted.folded[id(made[0])] = Folded(primitive, params, operands, made[0])
        return made

    remove = apply([wrap(pe, "try_constant_folding", fold)])
    try:
        yield
    finally:
        remove()


def _written(primitive: Any, params: Any, places: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """The equation as the jaxpr will have it: what is short is written out in the place of the call."""
    body = params["jaxpr"].jaxpr if primitive.name == "jit" and params.get("inline") else None
    if body is None or len(body.eqns) != 1:
        return primitive.name, places
    (equation,) = body.eqns
    constants = [body.invars[k] for k in places]
    operands = enumerate(equation.invars)
    return equation.primitive.name, tuple(k for k, atom in operands if any(atom is one for one in constants))
