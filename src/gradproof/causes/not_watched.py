"""A gradient tape records only what it watches, and this source was not among it.

What it finds
    A gradient of None for a source that the target does depend on, on a tape that was open while the
    target was computed but was never told to watch the source.

Why it spoils a gradient
    A tape follows trainable variables and what is passed to `watch`. For anything else it keeps no path back
    from the target, so the answer is None. None does not mean that the derivative is zero.

Example
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        y = tf.sin(x)
    tape.gradient(y, x)             # None

Write instead
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)

Stays silent when
    the tape watched the source and the path broke elsewhere; or
    the target was computed outside the tape; or
    the target does not depend on the source at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._missing import broken, diagnose, lacks, no_zero, tape_line, with_origin
from gradproof.causes._source import line_of
from gradproof.causes._watching import watched_early
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.occasion import Occasion
from gradproof.frameworks import framework
from gradproof.ir.capture import Break


def find(case: Case) -> Iterator[Diagnostic]:
    missing = broken(case, "not-watched")
    if missing is None:
        return
    name, target = case.source.name, case.capture.target
    what = missing.facts["what"]
    if what.startswith("watched"):
        yield _late(case, missing)
        return
    if "plain" in missing.facts:
        yield _plain(case, missing, what)
        return
    missing = with_origin(case, missing, f"`{name}` is {what}")
    kind = "the constant" if what == "a constant" else f"`{name}`"
    yield from diagnose(
        case,
        missing,
        headline=f"{lacks(case)} because the tape never watched `{name}`",
        why=(
            f"{no_zero(case)}`{target}` does depend on `{name}`, but a tape records only what it watches: "
            f"trainable variables, and what is passed to `tape.watch`. `{name}` is {what}, so there is no recorded "
            f"path from `{target}` back to it."
        ),
        fix=Fix(f"watch {kind} before you use it{_or_else(name, what)}", _patch(case, name)),
    )


def _or_else(name: str, what: str) -> str:
    """What a parameter should be, where it is not that already."""
    if "not trainable" in what:
        return f"; if `{name}` is a parameter, make it trainable"
    return "" if what.startswith("a variable") else f"; if `{name}` is a parameter, make it a variable"


def _plain(case: Case, missing: Break, what: str) -> Diagnostic:
    name = case.source.name
    made = framework(case.capture.framework).variable.format(name=name)
    (found,) = diagnose(
        case,
        with_origin(case, missing, f"`{name}` is {what}"),
        headline=f"{lacks(case)} because `{name}` is {what}, which no tape can watch",
        why=(
            f"A gradient is taken for a tensor or a variable. `{name}` is {what}: a tensor is made of it wherever it "
            "is used, each time another one, and no tape knows that they are the same."
        ),
        fix=Fix(f"make it one tensor first: `{made}`, and use that in the tape"),
    )
    return found


def _late(case: Case, missing: Break) -> Diagnostic:
    name, target = case.source.name, case.capture.target
    (found,) = diagnose(
        case,
        missing,
        headline=f"{lacks(case)} because the tape was told too late to watch `{name}`",
        why=(
            f"{no_zero(case)}A tape records what is computed from a tensor from the moment it watches it. What "
            f"`{target}` needs of `{name}` had been computed before this line."
        ),
        fix=Fix(f"watch `{name}` at the top of the tape's block, before it is used", _earlier(case, missing)),
    )
    return found


def _earlier(case: Case, missing: Break) -> str:
    """The line that watches, moved to the top of the block that the tape opens."""
    tape, watch = tape_line(case), line_of(case, missing.span)
    if tape is None or missing.span is None or missing.span.file != tape[0].file:
        return ""
    if not watch.strip().endswith(")"):
        return ""
    return watched_early(case, tape[0], watch.strip(), case.source.name, drop=missing.span.line)


def _patch(case: Case, name: str) -> str:
    tape = tape_line(case)
    if tape is None:
        return ""
    watch = f"{tape[2]}.watch({name})"
    # The tape on NumPy returns what it watches; a plain array cannot be followed.
    watch = f"{name} = {watch}" if case.capture.framework == "numpy" else watch
    return watched_early(case, tape[0], watch, name)


CAUSE = Cause(name="not-watched", find=find, doc=__doc__ or "", on=(Occasion.MISSING,))
