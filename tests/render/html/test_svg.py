"""Scales and ticks: round numbers, told apart, inside the frame."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradproof.diagnosis.figures import Passage, Slice, StepCurve
from gradproof.ir.span import Span
from gradproof.render.html.markup import Html, data_block, prose, tag, text
from gradproof.render.html.plots import passage_figure, slice_figure, steps_figure
from gradproof.render.html.svg import Scale, curve, frame, linear, logarithmic

NUMBERS = st.floats(-1e30, 1e30, allow_nan=False)


@given(st.lists(NUMBERS, min_size=1, max_size=9))
def test_a_linear_scale_holds_its_values_and_a_few_ticks(values: list[float]) -> None:
    scale = linear(values, 0.0, 100.0)
    assert all(-1e-6 <= scale(value) <= 100 + 1e-6 for value in values)
    ticks = scale.ticks()
    assert len(ticks) <= 12
    room = 1e-6 * (scale.high - scale.low)
    assert all(scale.low - room <= tick <= scale.high + room for tick in ticks)


@given(st.lists(st.floats(1e-280, 1e280), min_size=1, max_size=9))
def test_a_logarithmic_scale_holds_its_values(values: list[float]) -> None:
    scale = logarithmic(values, 0.0, 100.0)
    assert all(-1e-6 <= scale(value) <= 100 + 1e-6 for value in values)
    assert 2 <= len(scale.ticks()) <= 8


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (0.0, 100.0, ["0", "20", "40", "60", "80", "100"]),
        (-1.0, 1.0, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
        (0.0, 1.2e11, ["0", "2e10", "4e10", "6e10", "8e10", "1.0e11", "1.2e11"]),
        (-2e-7, 2e-7, ["-2e-7", "-1e-7", "0", "1e-7", "2e-7"]),
    ],
)
def test_ticks_are_written_with_the_digits_that_tell_them_apart(
    low: float, high: float, wanted: list[str]
) -> None:
    drawn = frame(Scale(0.0, 1.0, 0.0, 1.0), Scale(low, high, 100.0, 0.0), "")
    found = [part.split("<")[0] for part in drawn.split('dy="0.32em">')[1:]]
    assert found == wanted


def test_a_curve_is_interrupted_where_there_is_no_value() -> None:
    unit = Scale(0.0, 3.0, 0.0, 3.0)
    drawn = curve(unit, unit, np.arange(4.0), np.array([0.0, 1.0, np.nan, 2.0]), "proven")
    assert 'd="M0.0 0.0L1.0 1.0M3.0 2.0"' in drawn


def _figure_of(values: list[float]) -> list[Html]:
    array = np.array(values)
    t = np.linspace(-1.0, 1.0, array.size)
    steps = 10.0 ** np.linspace(-9, 0, array.size)
    return [
        slice_figure(Slice("along x", "NumPy", t, array, array, array[::-1], array[::-1])),
        steps_figure(StepCurve("along x", steps, np.abs(array), None, 0.0, 1e-3)),
        passage_figure(Passage(Span("a.py", 1), "mul", tuple(array.tolist())), text("a.py:1")),
    ]


@given(st.lists(st.floats(), min_size=1, max_size=9))
def test_any_numbers_can_be_drawn_and_no_place_is_lost(values: list[float]) -> None:
    for figure in _figure_of(values):
        places = "".join(part.split('"')[0] for part in figure.split(' d="')[1:])
        assert "nan" not in places and "inf" not in places


def test_text_is_escaped_and_markup_is_not() -> None:
    assert tag("p", "<b>", tag("b", "&")) == "<p>&lt;b&gt;<b>&amp;</b></p>"
    assert tag("p", title='"><script>') == '<p title="&quot;&gt;&lt;script&gt;"></p>'
    assert prose("a `<b>` c") == "a <code>&lt;b&gt;</code> c"


def test_data_cannot_end_its_element() -> None:
    inside = data_block("x", {"</script>": "<!--"}).partition(">")[2].removesuffix("</script>")
    assert not set(inside) & set("<>&")
    assert json.loads(inside) == {"</script>": "<!--"}
    with pytest.raises(ValueError, match="Out of range"):
        data_block("x", [math.nan])
