"""Hand-written derivatives that forward mode goes through: which functions have them, and with what numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jax._src.interpreters import ad

from gradproof.frontends.jax.observe.notes import JaxPiece, Linearisation
from gradproof.frontends.jax.observe.peel import bottom
from gradproof.frontends.jax.observe.session import JaxSession
from gradproof.frontends.jax.observe.trace import numbers, places_here
from gradproof.frontends.record.patches import apply, wrap


@contextmanager
def following_forward(session: JaxSession, noted: Linearisation) -> Iterator[None]:
    """While the function runs: note each `custom_jvp` that tangents go through."""

    def begin(original: Any, trace: Any, *args: Any, **kwargs: Any) -> None:
        original(trace, *args, **kwargs)
        if noted.tag is None:
            noted.tag = trace.tag

    def by_jvp(
        original: Any, trace: Any, primitive: Any, fun: Any, jvp: Any, tracers: Any, /, **params: Any
    ) -> Any:
        result = list(original(trace, primitive, fun, jvp, tracers, **params))
        if trace.tag is not noted.tag:
            noted.rules_inside.append((fun.debug_info, jvp.debug_info))
        if trace.tag is noted.tag and not session.here.quiet:
            try:
                noted.pieces.append(_piece(fun, jvp, tracers, result))
            except Exception:
                session.note_failure()
        return result

    remove = apply(
        [
            wrap(ad.JVPTrace, "__init__", begin),
            wrap(ad.JVPTrace, "process_custom_jvp_call", by_jvp),
            wrap(ad.LinearizeTrace, "process_custom_jvp_call", by_jvp),
        ]
    )
    try:
        yield
    finally:
        remove()


def _piece(fun: Any, jvp: Any, tracers: Any, outputs: Any) -> JaxPiece:
    given, made = (
        tuple(bottom(x) for x in group if isinstance(x, ad.JVPTracer)) for group in (tracers, outputs)
    )
    name, rule = fun.debug_info.func_name, jvp.debug_info
    return JaxPiece(
        next(numbers),
        "custom_jvp",
        name,
        places_here(3),
        given,
        made,
        (),
        (),
        function=fun.debug_info,
        rule=rule,
    )
