"""What can be said about a derivative that JAX refused, or that an exception ended."""

from __future__ import annotations

import re

from gradproof.frontends.jax.crash import advice_on, break_of
from gradproof.frontends.jax.misuse import NO_ARGUMENT, NO_TANGENTS
from gradproof.frontends.jax.observe.asked import function_name
from gradproof.frontends.jax.observe.refusals import Refusal
from gradproof.frontends.record.source import span_of, spans_of, users_place
from gradproof.ir import types
from gradproof.ir.capture import Break, CallRun, Capture, Source
from gradproof.ir.span import Span

_BEFORE = (NO_ARGUMENT, NO_TANGENTS, "jvp called with different")
_PRIMAL = re.compile(r"Got primal dtype (\w+)")
_ARGUMENT = re.compile(NO_ARGUMENT + r"(.*?) requires")
_END = re.compile(r"(?<!e\.g|i\.e)\.(?= [A-Z]|$)")  # of a sentence


def capture_of(refusal: Refusal) -> Capture:
    """The call with its exception; integers say why there is no gradient for them, and known exceptions do."""
    spans = spans_of(refusal.places)
    call = spans[0] if spans else Span("<unknown>", 0)
    told = break_of(refusal.error, spans_of(refusal.step)[0] if refusal.step else call)
    text = _told(refusal.error)
    return Capture(
        "jax",
        call,
        function_name(refusal.asked.function),
        tuple(
            Source(name, shape, dtype, None, None, missing=_why(name, dtype, call) or told)
            for name, dtype, shape in refusal.leaves
        ),
        None,
        run=CallRun(refusal.occurrence, exception=text),
        failure=text,
    )


def capture_before(error: BaseException) -> Capture | None:
    """A call that JAX refuses before it looks into any argument."""
    place, said = users_place(error.__traceback__), str(error)
    if place is None or not (isinstance(error, TypeError | ValueError) and said.startswith(_BEFORE)):
        return None
    call, text = span_of(place), _told(error)
    named = _ARGUMENT.match(said)
    name = "primals" if named is None else named[1]
    dtype = _PRIMAL.search(said)
    kind = "none" if dtype is None else dtype[1]
    meant = Source(name, (), kind, None, None, missing=_why(name, kind, call) if dtype else None)
    return Capture("jax", call, "target", (meant,), None, run=CallRun(1, exception=text), failure=text)


def _why(name: str, dtype: str, call: Span) -> Break | None:
    if not types.is_discrete(dtype):
        return None
    return Break("integer-dtype", call, f"`{name}` has dtype {dtype}", (), {"dtype": dtype})


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {_first_sentence(str(error))}{advice_on(error)}"


def _first_sentence(text: str) -> str:
    return _END.split(text.split("\n")[0])[0].rstrip(".")
