"""What is said of a gradient that no cause explains: the first op that departs, what it was given, both values."""

from __future__ import annotations

import numpy as np

from gradproof.audit.known import first_departure
from gradproof.diagnosis.case import Case, RuleFaults
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.engine.refine import Enclosure
from gradproof.ir.capture import Capture, Pullback, Source
from gradproof.ir.program import Builder, Program
from gradproof.ir.span import Span
from gradproof.judge.blame import Departure
from gradproof.judge.judge import Judgement
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

CALL, OP = Span("script.py", 9), Span("script.py", 4)


def program(gradient: float) -> Program:
    """y = exp(x), and a gradient that some rule has returned for it."""
    builder = Builder()
    x = builder.input(np.array(2.0), "x", OP)
    y = builder.add("exp", x, value=np.exp(np.array(2.0)), span=OP)
    up = builder.constant(np.array(3.0), OP, "backward")
    g = builder.add("mul", y, up, value=np.array(gradient), span=OP, phase="backward")
    return builder.build([g])


def case(verdict: Verdict, gradient: float, departures: tuple[Departure, ...] = ()) -> Case:
    ran = program(gradient)
    source = Source("x", (), "float64", 0, np.array(gradient), recorded=3)
    capture = Capture("tensorflow", CALL, "y", (source,), None, ran)
    judgement = Judgement(verdict, "ball", None, None, None)
    return Case(capture, 0, judgement, Options(), rules=RuleFaults(departures))


def departed() -> Departure:
    pullback = Pullback("Exp", (0,), (1,), (2,), (3,), OP)
    exact = np.zeros(())
    meant, true = (Enclosure(np.array(number), exact) for number in (5.0, 22.17))
    return Departure(pullback, 0, meant, true, 0.8)


def test_of_a_wrong_gradient_the_first_rule_that_departs_with_both_values() -> None:
    said = first_departure(case(Verdict.WRONG, 5.0, (departed(),)), ())
    assert said is not None
    for part in ("Exp at line 4", "given 2.0", "returns 5.0", "derivative is 22.17"):
        assert part in said


def test_of_one_that_is_not_finite_the_first_op_whose_result_is_not() -> None:
    said = first_departure(case(Verdict.NONFINITE, np.inf), ())
    assert said is not None
    for part in ("mul at line 4 in the backward pass", "3.0", "returns inf"):
        assert part in said


def test_nothing_where_a_cause_says_it_or_the_gradient_is_right() -> None:
    told = Diagnostic(kind="kink", severity="error", certainty="proven", headline="it is said")
    assert first_departure(case(Verdict.WRONG, 5.0, (departed(),)), (told,)) is None
    assert first_departure(case(Verdict.CORRECT, 5.0), ()) is None
