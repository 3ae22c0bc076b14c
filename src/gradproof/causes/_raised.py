"""A rule that raised an exception, the user's own or one of the framework: there is no gradient, and this is why."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._missing import broken, diagnose
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic, Fix


def raised_by_rule(case: Case, kind: str) -> Iterator[Diagnostic]:
    """The diagnostic, if an exception came out of a rule of this kind and ended the gradient call."""
    raised = broken(case, kind)
    if raised is None or "exception" not in raised.facts:
        return
    op, exception = raised.facts["op"], raised.facts["exception"]
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
