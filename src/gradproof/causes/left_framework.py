"""A tensor was turned into plain numbers on the path, and no gradient comes back through them.

What it finds
    A gradient of None where the path from the source to the target passes through `numpy()`, `float()`, `item()`,
    `tf.numpy_function`, a plain NumPy array or another door out of the framework; and a gradient that lacks a part
    because the numbers came back as a constant of the target, with what the part would have added.

Why it spoils a gradient
    Plain numbers do not know what they were computed from. For the tape they are constants, and the derivative of a
    constant is not recorded. If another path is left the gradient is that of the other path alone, and nothing shows.

Example
    slope = float(x / y)            # a Python number from here on
    return upstream * slope

Write instead
    slope = x / y

Stays silent when
    the number was only printed, compared or logged and did not go on into the target; or
    the path broke elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from gradproof.causes._evidence import comparison_rows, observed_text, subject
from gradproof.causes._lost import lost
from gradproof.causes._missing import broken, diagnose, lacks, no_zero, remedy
from gradproof.causes._source import line_of, replaced_span, text_of
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.engine.refine import Enclosure
from gradproof.frameworks import framework as language
from gradproof.ir.capture import Break
from gradproof.ir.surroundings import Cut, LostPart
from gradproof.judge.cut_off import is_cut_off
from gradproof.judge.verdict import Verdict

_NUMPY = re.compile(r"\b(np|numpy)\.")


def find(case: Case) -> Iterator[Diagnostic]:
    if case.detour.uncut is not None:
        yield _part(case, case.detour.uncut)
    yield from lost(case, "left-framework", _possible)
    if case.verdict is Verdict.WRONG and is_cut_off(case.capture, case.index):
        yield _whole(case)
    missing = broken(case, "left-framework")
    if missing is None:
        return
    name, target = case.source.name, case.capture.target
    framework = words.framework_name(case.capture.framework)
    door = missing.facts.get("how", "")
    by = f"`{door}`" if door else "a conversion"
    yield from diagnose(
        case,
        missing,
        headline=f"{lacks(case)} because {by} turns a value into plain numbers",
        why=(
            f"{no_zero(case)}What `{target}` is made of passed through {by}, and plain numbers do not know what they "
            f"were computed from. For {framework} they are constants, so no path leads back to `{name}`."
        ),
        fix=Fix(
            remedy(missing, f"stay in {framework}: use its own functions on the tensor itself"),
            _patch(case, missing),
        ),
    )


def _possible(case: Case, part: LostPart) -> Diagnostic:
    name, target, framework = (
        case.source.name,
        case.capture.target,
        words.framework_name(case.capture.framework),
    )
    return Diagnostic(
        kind="left-framework",
        severity="note",
        certainty="likely",
        headline=f"a part of `{target}` may be plain numbers that were computed from `{name}`",
        primary=annotated(part.back, f"takes numbers that {framework} did not make"),
        secondary=()
        if part.left in (None, part.back)
        else (Annotation(part.left, "they may come from here"),),
        why=(
            f"The source mentions what depends on `{name}` where these numbers come from, and for {framework} they are "
            "a constant. If they were computed from it, the gradient lacks their part."
        ),
    )


def _whole(case: Case) -> Diagnostic:
    """No other way is left: what a framework returns then is zero, and no part of the gradient."""
    assert case.capture.around.uncut is not None
    name, target, cuts = case.source.name, case.capture.target, _each_place(case.capture.around.uncut.cuts)
    first, framework = cuts[0], words.framework_name(case.capture.framework)
    returned = first.back if first.back != first.left else None
    return Diagnostic(
        kind="left-framework",
        severity="error",
        certainty="measured",
        headline=f"the gradient for `{name}` is 0 because `{first.how}` turns a value into plain numbers",
        primary=annotated(first.left, "plain numbers from here on"),
        secondary=() if returned is None else (Annotation(returned, "come back as a constant"),),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"All of `{target}` that depends on `{name}` goes through numbers that left {framework} here. Plain "
            f"numbers do not know what they were computed from: for {framework} `{target}` is a constant, and its "
            "gradient is 0."
        ),
        fix=Fix(f"leave out `{first.how}` and use the tensor itself"),
    )


def _part(case: Case, uncut: Enclosure) -> Diagnostic:
    """The gradient is that of what the tape saw; a warning, for a constant may be what was meant."""
    name, target, cuts = case.source.name, case.capture.target, _each_place(case.detour.cuts)
    first, framework = cuts[0], words.framework_name(case.capture.framework)
    returned = first.back if first.back != first.left else None
    assert case.true is not None
    gap = np.abs(uncut.mid - case.true.mid)
    most = tuple(int(k) for k in np.unravel_index(int(np.argmax(gap)), gap.shape))
    rows = (
        (framework, observed_text(case, most)),
        ("with that part", words.number(uncut.mid[most].item(), uncut.rad[most].item())),
    )
    others = [Annotation(cut.left, "and here") for cut in cuts[1:] if cut.left is not None]
    return Diagnostic(
        kind="left-framework",
        severity="warning",
        certainty="measured",
        headline=f"a part of `{target}` leaves {framework} through `{first.how}` and counts as constant",
        primary=annotated(first.left, "plain numbers from here on"),
        secondary=(*([] if returned is None else [Annotation(returned, "come back as a constant")]), *others),
        subject=subject(case, most),
        evidence=rows,
        why=(
            f"The numbers that left depend on `{name}`, and they come back as a part of `{target}`. Plain numbers do "
            f"not know what they were computed from, so this gradient is that of the other parts alone: it is right "
            "if a constant is meant, and lacks a term if not."
        ),
        fix=Fix(
            f"leave out `{first.how}` and use the tensor itself; if a constant is meant, "
            f"`{language(case.capture.framework).stop_gradient}` says so and silences this"
        ),
    )


def _each_place(cuts: Iterable[Cut]) -> list[Cut]:
    """One for every line that numbers leave at."""
    return list({None if cut.left is None else (cut.left.file, cut.left.line): cut for cut in cuts}.values())


def _patch(case: Case, missing: Break) -> str:
    """`float(x)` becomes `x`, `x.numpy()` becomes `x`; none where a function of NumPy leads out again."""
    text, span = text_of(case, missing.span), missing.span
    if span is None or (_NUMPY.search(line_of(case, span)) and case.capture.framework != "numpy"):
        return ""
    for head, tail in (("float(", ")"), ("", ".numpy()"), ("", ".item()")):
        inner = text[len(head) : len(text) - len(tail)]
        if text.startswith(head) and text.endswith(tail) and inner and inner.count("(") == inner.count(")"):
            return replaced_span(case, span, inner)
    return ""


ON = (Occasion.MISSING, Occasion.WRONG, Occasion.AROUND)
CAUSE = Cause(name="left-framework", find=find, doc=__doc__ or "", on=ON)
