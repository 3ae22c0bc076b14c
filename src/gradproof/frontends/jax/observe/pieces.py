"""What each step of a function contributes to its linear map, and which hand-written rules take part.

While a function is linearised, JAX goes through it step by step: every primitive, and every function with a derivative
of its own, adds some equations to the linear jaxpr. Here it is noted which ones, so that afterwards each rule can be
tried alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from jax._src import core
from jax._src.ad_util import Zero
from jax._src.interpreters import ad
from jax._src.interpreters import partial_eval as pe
from jax._src.numpy import array_methods

from gradproof.frontends.jax.lower.library import region_of
from gradproof.frontends.jax.observe.asked import function_name
from gradproof.frontends.jax.observe.elsewhere import computes_elsewhere
from gradproof.frontends.jax.observe.notes import Body, JaxExit, JaxPiece, JaxRuleRun, Linearisation
from gradproof.frontends.jax.observe.peel import UnreadableTracer, bottom
from gradproof.frontends.jax.observe.plain_numbers import fresh
from gradproof.frontends.jax.observe.session import JaxSession
from gradproof.frontends.jax.observe.trace import codes_here, numbers, places_here
from gradproof.frontends.jax.observe.transposed import LINEAR_CALL, at_own_lines, transpose_of, without_line
from gradproof.frontends.jax.observe.twin import with_bottom
from gradproof.frontends.record.patches import apply, wrap

_MOVING = ("sign",)  # constant between jumps for real numbers, and not so for complex ones
_ITEM = array_methods._item.__code__


class Pieces:
    """The hooks on a linearisation; they are in only while one is looked at."""

    def __init__(self, session: JaxSession) -> None:
        self._session = session

    @contextmanager
    def following(self, noted: Linearisation) -> Iterator[None]:
        """While the function runs: note its steps."""

        def begin(
            original: Any, trace: Any, parent: Any, tangent_trace: Any, *rest: Any, **kwargs: Any
        ) -> None:
            original(trace, parent, tangent_trace, *rest, **kwargs)
            if noted.tag is None:
                noted.tag = tangent_trace.tag

        def primitive(original: Any, trace: Any, primitive: Any, tracers: Any, params: Any, /) -> Any:
            result = original(trace, primitive, tracers, params)
            outputs = result if primitive.multiple_results else [result]
            rule = transpose_of(params) if primitive.name == LINEAR_CALL else None
            if rule is not None:
                function = params["callee"].jaxpr
                self._note(noted, trace, "custom_jvp", "", tracers, outputs, fun=function, rule=rule)
                return result
            name = _name(primitive, params)
            self._note(noted, trace, "primitive", name, tracers, outputs, step=(primitive, params))
            return result

        def by_jvp(
            original: Any, trace: Any, primitive: Any, fun: Any, jvp: Any, tracers: Any, /, **params: Any
        ) -> Any:
            tracers = _as_given(self._session, noted, fun.f, tracers)
            if trace.tag is not noted.tag:
                noted.rules_inside.append((fun.debug_info, jvp.debug_info))
            with without_line():  # inside `jit` it is that of the call, and not where the rule stands
                result = list(original(trace, primitive, fun, jvp, tracers, **params))
            self._note(noted, trace, "custom_jvp", "", tracers, result, fun=fun, rule=jvp)
            return result

        def by_vjp(
            original: Any,
            trace: Any,
            primitive: Any,
            fun: Any,
            fwd: Any,
            bwd: Any,
            tracers: Any,
            /,
            **params: Any,
        ) -> Any:
            tracers = _as_given(self._session, noted, fun.f, tracers)
            with without_line():
                result = list(original(trace, primitive, fun, fwd, bwd, tracers, **params))
            self._note(noted, trace, "custom_vjp", "", tracers, result, fun=fun, rule=bwd)
            return result

        def forwards(
            original: Any, trace: Any, primitive: Any, fun: Any, jvp: Any, tracers: Any, /, **params: Any
        ) -> Any:
            noted.rules_inside.append((fun.debug_info, jvp.debug_info))
            with without_line():  # as inside `checkpoint`, which differentiates forwards
                return original(trace, primitive, fun, jvp, tracers, **params)

        def read(original: Any, tracer: Any) -> Any:
            if tracer._trace.tag is noted.tag and not noted.is_staged:
                self._note_read(noted, tracer)
            return original(tracer)

        remove = apply(
            [
                wrap(ad.LinearizeTracer, "to_concrete_value", read),
                wrap(ad.LinearizeTrace, "__init__", begin),
                wrap(ad.LinearizeTrace, "process_primitive", primitive),
                wrap(ad.LinearizeTrace, "process_custom_jvp_call", by_jvp),
                wrap(ad.LinearizeTrace, "process_custom_vjp_call", by_vjp),
                wrap(ad.JVPTrace, "process_custom_jvp_call", forwards),
            ]
        )
        try:
            yield
        finally:
            remove()

    def _note(
        self,
        noted: Linearisation,
        trace: Any,
        kind: str,
        name: str,
        tracers: Any,
        outputs: Any,
        fun: Any = None,
        rule: Any = None,
        step: tuple[Any, Any] | None = None,
    ) -> None:
        if trace.tag is not noted.tag or self._session.here.quiet:
            return
        try:
            given = _distinct(_pair(trace, x) for x in tracers)
            made = _distinct(_pair(trace, y) for y in outputs)
            if not made and fun is None:
                self._note_dropped(noted, name, given, outputs)
                return
            if not made:  # a rule that says there is no slope at all
                made = [(y, None) for y in outputs if _is_number(y)] if given else []
            if not made:
                return
            noted.pieces.append(
                JaxPiece(
                    id=next(numbers),
                    kind=kind,
                    name=name or fun.debug_info.func_name,
                    places=places_here(3),
                    inputs=tuple(bottom(x) for x, _ in given),
                    outputs=tuple(bottom(y) for y, _ in made),
                    tangents_in=tuple(t for _, t in given),
                    tangents_out=tuple(t for _, t in made if t is not None),
                    body=None if step is None else _body(*step, trace, tracers, outputs),
                    function=None if fun is None else fun.debug_info,
                    rule=None if rule is None else rule.debug_info,
                    key=rule,
                )
            )
        except (
            UnreadableTracer
        ):  # inside an eager `shard_map`: the call goes on without its rules being known
            return
        except Exception:
            self._session.note_failure()

    def _note_read(self, noted: Linearisation, tracer: Any) -> None:
        """`x.item()` works on what is differentiated, and its numbers go on without a derivative."""
        if self._session.here.quiet or _ITEM not in codes_here(1):
            return
        try:
            value = bottom(tracer.primal).value
            noted.exits.append(JaxExit(next(numbers), "item()", value, places_here(1)))
        except Exception:
            self._session.note_failure()

    def _note_dropped(
        self, noted: Linearisation, name: str | None, given: list[tuple[Any, Any]], outputs: Any
    ) -> None:
        """A function of the library that has a slope, of which JAX made a constant."""
        known = region_of(codes_here(3)) if given else None
        name = known.name if known is not None else name if name in _MOVING and _is_complex(given) else None
        numbers_out = [y for y in outputs if _is_number(y)]
        if name is not None and numbers_out:
            inputs, made = tuple(bottom(x) for x, _ in given), tuple(map(bottom, numbers_out))
            tangents = tuple(t for _, t in given)
            noted.pieces.append(
                JaxPiece(next(numbers), "dropped", name, places_here(4), inputs, made, tangents, ())
            )

    @contextmanager
    def applying(self, noted: Linearisation, runs: list[JaxRuleRun]) -> Iterator[None]:
        """While the pullback runs: note what hand-written reverse rules are given and return."""
        own = {id(piece.key): piece for piece in noted.pieces if piece.kind == "custom_vjp"}
        before = ad.primitive_transposes[ad.custom_lin_p]

        def transpose(cts_out: Any, *invals: Any, bwd: Any, **params: Any) -> Any:
            piece = own.get(id(bwd))
            if piece is None:
                return before(cts_out, *invals, bwd=bwd, **params)
            if not params["symbolic_zeros"]:
                cts_out = [ad.instantiate_zeros(ct) for ct in cts_out]
            run = JaxRuleRun(next(numbers), piece.id, tuple(_bottom(ct) for ct in cts_out))
            runs.append(run)
            # The line that is being differentiated is not where the rule stands.
            with without_line():
                results = before(cts_out, *invals, bwd=bwd, **params)
            run.results = tuple(_bottom(ct) for ct in results[params["num_res"] :])
            return results

        if not own:
            with at_own_lines():
                yield
            return
        ad.primitive_transposes[ad.custom_lin_p] = transpose
        try:
            with at_own_lines():
                yield
        finally:
            ad.primitive_transposes[ad.custom_lin_p] = before


def _as_given(session: JaxSession, noted: Linearisation, function: Any, tracers: Any) -> Any:
    """Hand-written functions are given Python numbers as they are, and may compute with them in Python.

    Each is an object of its own, so that its uses can be followed; not where Python may compute with it unheard.
    """
    if not noted.plain:
        return tracers
    is_followed = not computes_elsewhere(function)
    found = []
    for x in tracers:
        array = number = None
        with suppress(NotImplementedError):
            array = bottom(x).value
            number = noted.plain.get(id(array))
        if number is not None and is_followed:
            number = fresh(number)
            session.note_same(array, number)
        elif number is not None:
            noted.unheard = function_name(function)
        found.append(x if number is None else with_bottom(x, number))
    return found


def _is_number(x: Any) -> bool:
    return getattr(getattr(x, "dtype", None), "kind", "") in ("f", "c")


def _is_complex(given: list[tuple[Any, Any]]) -> bool:
    return any(getattr(getattr(x, "dtype", None), "kind", "") == "c" for x, _ in given)


def _distinct(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """What is given twice is one argument."""
    return list({id(tangent): (x, tangent) for x, tangent in pairs if tangent is not None}.values())


def _bottom(ct: Any) -> Any:
    return None if type(ct) is Zero or ct is None else bottom(ct)


def _pair(trace: Any, x: Any) -> tuple[Any, Any]:
    """A value below the trace and the variable of its tangent; None where it has none."""
    if not (isinstance(x, ad.LinearizeTracer) and x._trace.tag is trace.tag):
        return x, None
    tangent = x.tangent
    is_known = isinstance(tangent, pe.DynamicJaxprTracer) and isinstance(tangent.val, core.Var)
    return x.primal, tangent.val if is_known else None


def _name(primitive: Any, params: Any) -> str:
    return str(params["name"]) if primitive.name == "jit" and "name" in params else str(primitive.name)


def _body(primitive: Any, params: Any, trace: Any, tracers: Any, outputs: Any) -> Body | None:
    if next(core.jaxprs_in_params(params), None) is None:
        return None
    given, made = [_pair(trace, x) for x in tracers], [_pair(trace, y) for y in outputs]
    arguments = tuple(bottom(x) for x, _ in given)
    return Body(primitive, params, arguments, tuple(t for _, t in given), tuple(t for _, t in made))
