"""A rule that raised an exception, the user's own or one of the framework: there is no gradient, and this is why."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._misfit import misfits
from gradproof.causes._missing import broken, diagnose
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.ir.capture import Break


def raised_by_rule(case: Case, kind: str) -> Iterator[Diagnostic]:
    """The diagnostic, if an exception came out of a rule of this kind and ended the gradient call."""
    raised = broken(case, kind)
    if raised is not None and "headline" in raised.facts:
        yield from diagnose(case, raised, headline="", why="", fix=None)
        return
    if raised is None or "exception" not in raised.facts:
        return
    op, exception = raised.facts["op"], raised.facts["exception"]
    if "refused" in raised.facts:
        yield from _refused(case, raised)
        return
    if kind == "custom-gradient":
        whose, does, fix = f"the hand-written gradient of `{op}`", "its rule raised", None
    else:
        framework = words.framework_name(case.capture.framework)
        whose, does = f"{framework}'s own gradient of {op}", "the rule that differentiates it raised"
        fix = Fix(f"write this step without {op}, or give it a custom gradient")
    yield from diagnose(
        case,
        raised,
        headline=f"{whose} raises {exception} here",
        why=f"The forward has a value, but {does} {exception}, and the call of the gradient ended with it.",
        fix=fix,
    )


def _refused(case: Case, raised: Break) -> Iterator[Diagnostic]:
    """What a rule returned is not a gradient for each of its arguments; unless the results themselves say why."""
    if any(True for _ in misfits(case)):
        return
    framework = words.framework_name(case.capture.framework)
    yield from diagnose(
        case,
        raised,
        headline=f"{framework} refuses what the hand-written gradient of `{raised.facts['op']}` returns",
        why=f"{framework} says: {raised.facts['refused']} A rule returns one gradient per argument, in their order.",
        fix=Fix("return one gradient for every argument, of its shape and dtype"),
    )
