"""What can be said about a derivative that JAX refused, or that an exception ended."""

from __future__ import annotations

from gradproof.frontends.jax.crash import break_of
from gradproof.frontends.jax.observe.asked import function_name
from gradproof.frontends.jax.observe.refusals import Refusal
from gradproof.frontends.record.source import span_of, spans_of, users_place
from gradproof.ir import types
from gradproof.ir.capture import Break, CallRun, Capture, Source
from gradproof.ir.span import Span


def capture_of(refusal: Refusal) -> Capture:
    """The call with its exception; integers say why there is no gradient for them, and known exceptions do."""
    spans = spans_of(refusal.places)
    call = spans[0] if spans else Span("<unknown>", 0)
    told = break_of(refusal.error, spans_of(refusal.step)[0] if refusal.step else call)
    text = f"{type(refusal.error).__name__}: {_first_sentence(str(refusal.error))}{_advice(refusal.error)}"
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
    """A call that JAX refuses before it looks at any argument: one of them is not there."""
    place = users_place(error.__traceback__)
    if place is None or not (isinstance(error, TypeError) and str(error).startswith(_NO_ARGUMENT)):
        return None
    text = f"TypeError: {_first_sentence(str(error))}{_advice(error)}"
    meant = Source(str(error).removeprefix(_NO_ARGUMENT).split()[0], (), "none", None, None)
    return Capture(
        "jax", span_of(place), "target", (meant,), None, run=CallRun(1, exception=text), failure=text
    )


def _why(name: str, dtype: str, call: Span) -> Break | None:
    if not types.is_discrete(dtype):
        return None
    return Break("integer-dtype", call, f"`{name}` has dtype {dtype}", (), {"dtype": dtype})


_NO_ARGUMENT = "differentiating with respect to "
_ADVICE = {
    "Gradient only defined for scalar-output functions. Output was (": (
        "; a loss that returns more than its value is differentiated with `has_aux=True`"
    ),
    "Gradient only defined for scalar-output functions": (
        "; take the sum or the mean of what it returns, or `jax.jacrev` for the derivative of every entry"
    ),
    "grad requires real-valued outputs": "; take the real part or the absolute value, or pass `holomorphic=True`",
    _NO_ARGUMENT: "; `argnums` counts the arguments from 0, and those passed by name do not count",
    "expected function with aux output": "; leave out `has_aux=True`, or return `(loss, more)`",
}


def _advice(error: Exception) -> str:
    return next((advice for text, advice in _ADVICE.items() if text in str(error)), "")


def _first_sentence(text: str) -> str:
    return text.split("\n")[0].split(". ")[0].rstrip(".")
