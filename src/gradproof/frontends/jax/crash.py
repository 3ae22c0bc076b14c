"""The exception that ended a program that uses JAX: what it means, at the user's line."""

from __future__ import annotations

import re

from jax import errors

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic, Fix
from gradproof.frontends.attachment import Crash
from gradproof.frontends.jax.misuse import MISUSES, ExplainedError
from gradproof.frontends.record.source import span_of, users_place
from gradproof.ir.capture import Break
from gradproof.ir.span import Span

_LEFT = "left-framework"
_TRACED = (
    "While JAX traces a function (for `jit`, `vmap`, `scan` or a gradient inside of them) an array stands for all the "
    "numbers that it may hold, and has none yet."
)
# The most special first: each is an instance of those below it.
_BY_CLASS: tuple[tuple[type[BaseException], ExplainedError], ...] = (
    (
        errors.TracerBoolConversionError,
        ExplainedError(
            _LEFT,
            "Python's `if` needs a number here, and a traced array has none",
            "asks whether it is true",
            f"{_TRACED} `if`, `while`, `and`, `or` and `assert` need one number now.",
            "choose with `jnp.where` or `jax.lax.cond`; or name the argument in `static_argnums`",
        ),
    ),
    (
        errors.NonConcreteBooleanIndexError,
        ExplainedError(
            _LEFT,
            "a mask as index makes an array whose length nobody knows while tracing",
            "takes the entries where a mask is true",
            f"{_TRACED} How many entries a mask lets through is not known, and every array needs a shape.",
            "use `jnp.where(mask, x, 0.0)`, or pass `size=` to `jnp.nonzero`",
        ),
    ),
    (
        errors.TracerArrayConversionError,
        ExplainedError(
            _LEFT,
            "NumPy is given a traced array, which has no numbers yet",
            "turns the array into one of NumPy's",
            f"{_TRACED} A function of NumPy needs them now, and what it computed would have no gradient.",
            "use the function of the same name in `jax.numpy`",
        ),
    ),
    (
        errors.TracerIntegerConversionError,
        ExplainedError(
            _LEFT,
            "a traced array is used where Python needs an integer",
            "needs an integer",
            f"{_TRACED} `range`, a shape and an index into a list need an integer now.",
            "name the argument in `static_argnums`, or use `jax.lax.fori_loop` and indexing of arrays",
        ),
    ),
    (
        errors.ConcretizationTypeError,
        ExplainedError(
            _LEFT,
            "a number is asked of a traced array, which has none yet",
            "turns the array into a plain number",
            f"{_TRACED} `float()`, `int()`, `.item()` and the functions of `math` need one now, and what they return "
            "has no gradient.",
            "stay with arrays: use `jnp.sin` instead of `math.sin`, and leave out `float()` and `.item()`",
        ),
    ),
    (
        errors.UnexpectedTracerError,
        ExplainedError(
            _LEFT,
            "a traced array was kept beyond the function that it belongs to",
            "uses an array of a trace that has ended",
            "What a traced function writes into a global, an attribute or a list is no array: it stands for one while "
            "the function is traced, and for nothing afterwards.",
            "return the value from the function (`has_aux=True` lets a loss return more), and store what comes back",
        ),
    ),
)
_SHAPE = ExplainedError(
    _LEFT,
    "how long an array is has to be known while tracing, and a traced array decides it here",
    "needs plain integers for a shape",
    f"{_TRACED} Every array needs a shape, and a count, a size or the end of a slice that is traced gives none.",
    "name the argument in `static_argnums`; where it depends on the data, pass `size=`, or choose with `jnp.where`",
)
_SHAPES = ("Shapes must be 1D sequences of concrete values", "Slice entries must be static integers")
_PYTHONS = "The problem arose with the `"
_MADE = re.compile(r"value was created on line (.+?):(\d+)(?::\d+)? \(")
_FUNCTION = re.compile(r"\b(?:jnp|jax)\.")
_NO_RULE = ExplainedError(
    "no-gradient-registered",
    "JAX has no derivative of this function for this argument",
    "has no derivative in JAX",
    "Every step in between needs a rule, and JAX has none for this one. That says nothing about the function itself, "
    "which may well have a derivative.",
    "give the function that calls it a derivative with `jax.custom_jvp`, or write it with other functions",
)
_BY_TEXT = (
    (
        "invalid value (nan) encountered in",
        ExplainedError(
            "invalid-domain",
            "`jax_debug_nans` stops the program: the function itself is NaN here",
            "computes a NaN",
            "A function was asked for a value that it does not have (0/0, the logarithm or the root of a negative "
            "number, infinity minus infinity), and there is no gradient of NaN.",
            "keep its argument inside, with `jnp.where` around the argument, before the function is called",
        ),
    ),
    (
        "Reverse-mode differentiation does not work for lax.while_loop",
        ExplainedError(
            "no-gradient-registered",
            "`while_loop` has no gradient in reverse mode",
            "a loop whose number of turns is not known",
            "Going backward, every turn needs what it computed going forward, and for a loop that may turn any number "
            "of times there is no array to keep it in.",
            "use `jax.lax.scan`, or `fori_loop` with bounds that are plain integers; `jax.jvp` works as it is",
        ),
    ),
    (
        "do not support JVP",
        ExplainedError(
            "no-gradient-registered",
            "a callback has no gradient",
            "runs Python code that JAX does not see",
            "What a callback computes is unknown to JAX, and so is its derivative.",
            "give the function that calls it a derivative with `jax.custom_jvp` or `jax.custom_vjp`",
        ),
    ),
    (
        "Differentiation rule for",
        _NO_RULE,
    ),
    ("Transpose rule (for reverse-mode differentiation) for", _NO_RULE),
    ("gradient with respect to a and b not supported", _NO_RULE),
    ("gradients are only implemented if `unique_indices=True`", _NO_RULE),
    (
        "can't apply forward-mode autodiff (jvp) to a custom_vjp",
        ExplainedError(
            "no-gradient-registered",
            "a function with a `custom_vjp` rule has no derivative in forward mode",
            "is differentiated forward here",
            "`custom_vjp` tells how gradients go backward, and nothing else. `jvp`, `jacfwd` and `hessian` go forward.",
            "write the rule as a `custom_jvp`, which serves both, or use `jacrev`",
        ),
    ),
)


def explain_misuse(error: BaseException) -> Diagnostic | None:
    """A call that is at fault itself: no gradient could have been, and no cause of one is named."""
    known = _kind(error)
    crash = explain(error) if known is not None and known.kind == CRASH else None
    return None if crash is None else crash.diagnostic


def advice_on(error: BaseException) -> str:
    """What mends a call that is at fault itself, as the end of a sentence."""
    known = _kind(error)
    return "" if known is None or known.kind != CRASH else f"; {known.fix}"


def explain(error: BaseException) -> Crash | None:
    """None where the exception is none of those that JAX's users meet."""
    found = _known(error)
    if found is None:
        return None
    known, span = found
    (first, label), *others = _places(error, span, known.label)
    return Crash(
        Diagnostic(
            kind=known.kind,
            severity="error",
            certainty="measured",
            headline=known.headline,
            primary=Annotation(first, label),
            secondary=tuple(Annotation(*one) for one in others),
            why=known.why,
            fix=Fix(known.fix),
        )
    )


def break_of(error: BaseException, call: Span) -> Break | None:
    """The same for a gradient that the exception has prevented; without a line of its own, at the call."""
    known = _kind(error)
    if known is None or known.kind == CRASH:
        return None
    place = users_place(error.__traceback__)
    span = call if place is None else span_of(place)
    words = {"headline": known.headline, "why": known.why, "remedy": known.fix}
    (first, label), *others = _places(error, span, known.label)
    return Break(known.kind, first, label, tuple(others), words)


def _places(error: BaseException, span: Span, label: str) -> list[tuple[Span, str]]:
    """The line that raised; before it the one that made what was kept, where JAX knows it."""
    made = _MADE.search(str(error)) if isinstance(error, errors.UnexpectedTracerError) else None
    at = None if made is None else Span(made[1], int(made[2]))
    if at is None or (at.file, at.line) == (span.file, span.line):
        return [(span, label)]
    return [(at, "made here while this was traced, and kept"), (span, label)]


def _kind(error: BaseException) -> ExplainedError | None:
    if _is_about_a_shape(error):
        return _SHAPE
    known = next((known for kind, known in _BY_CLASS if isinstance(error, kind)), None)
    known = known or next((known for text, known in _BY_TEXT if text in str(error)), None)
    return known or next((known for text, known in MISUSES if text in str(error)), None)


def _is_about_a_shape(error: BaseException) -> bool:
    """One of JAX's own functions asks for plain integers, and is named; or Python does, by `float()` and the like."""
    lines = str(error).splitlines()
    if isinstance(error, errors.ConcretizationTypeError):
        named = lines[1] if len(lines) > 1 else ""
        return not named.startswith(_PYTHONS) and _FUNCTION.search(named) is not None
    return bool(lines) and lines[0].startswith(_SHAPES)


def _known(error: BaseException) -> tuple[ExplainedError, Span] | None:
    known = _kind(error)
    place = users_place(error.__traceback__)
    return None if known is None or place is None else (known, span_of(place))
