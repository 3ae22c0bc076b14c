"""What `gradproof explain` prints."""

from gradproof.diagnosis.cause import Cause
from gradproof.render.explain import explain, list_causes
from tests.render.snapshot import assert_snapshot

CANCELLATION_DOC = """Subtracting two nearly equal numbers throws away their leading digits.

What it finds
    A sum or difference that is so much smaller than its operands that the rounding
    already inside them reaches the digits that are left.

Why it spoils a gradient
    Whatever the chain rule computes from those digits carries the same relative error.

    More precision helps; another order of the operations helps more.

Example
    y = x * 1e10 + 1.0
    if y > 0:
        z = y - 1e10            # float32, x = 1: gives 0.0, the true value is 1

Write instead
    z = (x - 1.0) * 1e10 + 1.0

Stays silent when
    the operands were exact, so nothing was rounded before the subtraction; or
    the result does not reach the gradient.
"""

CANCELLATION = Cause("cancellation", lambda case: (), CANCELLATION_DOC)
KINK = Cause("kink", lambda case: (), CANCELLATION_DOC.replace("Subtracting", "A kink, not subtracting"))


def test_an_explanation_keeps_code_as_it_is_and_wraps_prose() -> None:
    assert_snapshot("explain_cancellation.txt", explain(CANCELLATION))


def test_an_explanation_fits_a_narrow_screen() -> None:
    lines = explain(CANCELLATION, width=60).splitlines()
    assert all(len(each) <= 60 for each in lines if "#" not in each)


def test_the_list_names_every_cause_in_order_with_its_first_line() -> None:
    assert list_causes([KINK, CANCELLATION], width=60) == (
        "cancellation  Subtracting two nearly equal numbers throws\n"
        "              away their leading digits.\n"
        "kink          A kink, not subtracting two nearly equal\n"
        "              numbers throws away their leading digits.\n"
        "\n"
        "gradproof explain CAUSE prints the long explanation of one of them\n"
    )


def test_colour_changes_no_character() -> None:
    assert explain(CANCELLATION, colour=True).replace("\x1b[1m", "").replace("\x1b[0m", "") == explain(
        CANCELLATION
    )
