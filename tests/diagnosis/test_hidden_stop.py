"""A `stop_gradient` of a library that cuts terms out of a derivative is found, and told from one that is meant."""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis.hidden_stop import HiddenStop, find_hidden_stop
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.capture import Capture, Inner, RuleRuns, Source
from gradproof.ir.program import Builder
from gradproof.ir.span import Span


def _capture(matters: bool, hidden: bool) -> Capture:
    """x * stop(x), or x * stop(1)."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    x = Traced(m, builder.input(np.array(3.0), "x"), np.array(3.0))
    m.at(Span("train.py", 1), None)
    held = m.stop_gradient(x if matters else m.literal(np.array(1.0)))
    y = m.mul(x, held)
    program = builder.build([y.id])
    return Capture(
        "tensorflow",
        Span("train.py", 2),
        "y",
        (Source("x", (), "float64", x.id, np.array(3.0)),),
        program,
        program,
        rules=RuleRuns(
            inner=(Inner((y.id,), (None,), (None,)),),
            hidden_stops={held.id: "tf.nn.moments"} if hidden else {},
        ),
    )


def _found(matters: bool, hidden: bool) -> HiddenStop | None:
    capture = _capture(matters, hidden)
    source = capture.sources[0].node
    assert source is not None
    return find_hidden_stop(capture, source, np.array(3.0 if matters else 1.0))


def test_one_inside_a_library_call_is_found_with_both_values() -> None:
    found = _found(True, hidden=True)
    assert found is not None
    assert (found.held, found.free, found.function) == (3.0, 6.0, "tf.nn.moments")


def test_one_that_the_user_calls_is_the_users_choice() -> None:
    assert _found(True, hidden=False) is None


def test_one_that_changes_nothing_is_not_worth_a_word() -> None:
    assert _found(False, hidden=True) is None
