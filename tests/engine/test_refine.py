"""The precision ladder climbs as far as the question needs, and says why it stopped."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.exact_product64 import SharpBallDomain64
from gradproof.engine.refine import Enclosure, Unknown, entry_count, gradient_measure, refine
from gradproof.engine.run import Run, run
from gradproof.errors import BeyondMemory
from gradproof.options import Options

from ..small import program_of, total

SMOOTH = program_of(lambda m, x: total(m, m.exp(x)), [0.5, 1.5])
# exp(x) - exp(x): zero, which only a ladder of rising precision can approach.
CANCELS = program_of(lambda m, x: m.sub(m.exp(x), m.exp(m.div(m.mul(x, 3.0), 3.0))), 0.7)


def _narrower_than(width: float):  # type: ignore[no-untyped-def]
    def is_decided(enclosures: tuple[Enclosure, ...], result: Run) -> bool:
        del result
        return all((enclosure.rad <= width).all() for enclosure in enclosures)

    return is_decided


@pytest.mark.parametrize(("width", "bits"), [(1e-12, 53), (1e-30, 128), (1e-60, 256), (1e-200, 1024)])
def test_the_climb_ends_at_the_first_rung_that_decides(width: float, bits: int) -> None:
    refined = refine(CANCELS, gradient_measure(CANCELS.inputs), _narrower_than(width), Options())
    assert refined.decided
    assert refined.precision_bits == bits
    assert refined.reason is None
    assert abs(refined.enclosures[0].mid) <= refined.enclosures[0].rad


def test_the_cap_ends_the_climb_with_a_reason() -> None:
    refined = refine(
        CANCELS, gradient_measure(CANCELS.inputs), _narrower_than(0.0), Options(precision_cap_bits=256)
    )
    assert not refined.decided
    assert refined.reason == "the enclosure is still too wide at balls of 256 bits"


def test_time_ends_the_climb_after_the_first_rung() -> None:
    refined = refine(CANCELS, gradient_measure(CANCELS.inputs), _narrower_than(0.0), Options(seconds=0.0))
    assert refined.precision_bits == 53
    assert str(refined.reason).startswith("the time limit of 0 s (Options.seconds) ends the climb")


def test_memory_ends_the_climb_or_forbids_it() -> None:
    measure = gradient_measure(CANCELS.inputs)
    few = Options(memory_limit_bytes=2 * entry_count(CANCELS) * 16)
    refined = refine(CANCELS, measure, _narrower_than(0.0), few)
    assert refined.precision_bits == 53
    assert "balls of 128 bits for" in str(refined.reason)
    with pytest.raises(BeyondMemory, match="float64 balls"):
        refine(CANCELS, measure, _narrower_than(0.0), Options(memory_limit_bytes=10))


def test_every_rung_encloses_the_gradient() -> None:
    for width in (1e-12, 1e-30, 1e-60):
        refined = refine(
            SMOOTH, gradient_measure(SMOOTH.inputs), _narrower_than(max(width, 1e-15)), Options()
        )
        (enclosure,) = refined.enclosures
        assert (np.abs(enclosure.mid - np.exp([0.5, 1.5])) <= enclosure.rad + 1e-15).all()


def test_without_a_value_there_is_no_gradient() -> None:
    program = program_of(lambda m, x: m.log(x), -1.0)
    refined = refine(
        program, gradient_measure(program.inputs), _narrower_than(1.0), Options(precision_cap_bits=128)
    )
    assert not refined.enclosures[0].is_bounded


def test_entries_of_decisions_do_not_count() -> None:
    program = program_of(lambda m, x: m.select(m.greater(x, m.zeros(())), x, x), np.ones(10))
    assert entry_count(program) == 10 + 1 + 10


def test_only_rungs_of_arbitrary_precision_show_that_a_bound_is_not_to_be_had() -> None:
    lost = (Enclosure(np.zeros(2), np.full(2, np.inf)),)
    unknown = Unknown()
    for domain, stays in (
        (BallDomain64(), False),
        (SharpBallDomain64(), False),
        (BallDomain(128), False),
        (BallDomain(256), True),
    ):
        unknown.see(lost, run(domain, SMOOTH))
        assert unknown.stays == stays


def test_a_larger_program_is_tried_with_exact_products_before_more_digits() -> None:
    x = np.random.default_rng(0).normal(size=(90, 90))
    program = program_of(lambda m, x: total(m, m.matmul(x, x)), x)
    seen: list[str] = []

    def is_decided(enclosures: tuple[Enclosure, ...], result: Run) -> bool:
        seen.append(result.m.domain.name)
        return len(seen) == 3

    assert refine(program, gradient_measure(program.inputs), is_decided, Options()).precision_bits == 128
    assert seen == ["float64 balls", "float64 balls with exact products", "balls of 128 bits"]
