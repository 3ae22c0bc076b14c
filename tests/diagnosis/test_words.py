"""Numbers, lists and names in words."""

import random
import unicodedata
from fractions import Fraction

import numpy as np
import pytest

from gradproof.diagnosis import words
from gradproof.diagnosis.words import number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (2e10, "2.0e10"), (1.0, "1.0"), (0.1, "0.1"), (1e-5, "1.0e-5"),
        (-4.546e-4, "-0.0004546"), (123456789.0, "1.23456789e8"), (1234567.0, "1234567.0"),
        (float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf"), (5e-324, "5.0e-324"),
        (1 + 2j, "1.0+2.0i"), (complex(0, -3), "0.0-3.0i"), (np.float32(0.1), "0.10000000149011612"),
        (7, "7.0"),
    ],
)  # fmt: skip
def test_a_number_of_the_machine_has_the_fewest_digits_that_tell_it_apart(value: complex, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (np.float32(0.1), "float32", "0.1"),
        (np.float16(0.1), "float16", "0.1"),
        (0.1001, "bfloat16", "0.1"),
        (np.complex64(0.1 + 0.2j), "complex64", "0.1+0.2i"),
        (0.123456789012, "float32", "0.123456789012"),
        (1e300, "float32", "1.0e300"),
    ],
)
def test_the_fewest_digits_depend_on_the_dtype(value: complex, dtype: str, text: str) -> None:
    assert number(value, dtype=dtype) == text


@pytest.mark.parametrize(
    ("value", "radius", "text"),
    [
        (-0.4161468365471424, 1e-17, "-0.4161468365471424"), (-0.41614683, 1e-5, "-0.4161"),
        (2e10, 1e8, "2.0e10"), (2e10, 4e9, "2e10"), (20.0, 4.0, "2e1"), (120.0, 0.4, "120"),
        (1e300, 1e290, "1.000000000e300"), (5.0, 0.5, "5"), (1.0, 10.0, "1.0 ± 10.0"),
        (0.0, 1e-20, "0.0 ± 1.0e-20"), (3.0, 5e-324, "3.000000000000000"), (1.0, 1.7e308, "1.0 ± 1.7e308"),
        (1.0, float("inf"), "unknown"), (1.0, float("nan"), "unknown"), (2.5, -1.0, "2.5"),
    ],
)  # fmt: skip
def test_a_number_with_a_radius_shows_only_certain_digits(value: float, radius: float, text: str) -> None:
    assert number(value, radius) == text


def test_no_digit_is_shown_that_the_radius_leaves_open() -> None:
    source = random.Random(11)
    for _ in range(3000):
        value = source.uniform(-10, 10) * 10.0 ** source.randint(-30, 30)
        radius = abs(value) * 10.0 ** source.uniform(-15, 1)
        text = number(value, radius)
        if "±" in text:
            # One digit at least was open.
            assert 20 * radius > abs(value)
            continue
        mantissa, _, exponent = text.partition("e")
        unit = Fraction(10) ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        assert abs(Fraction(text) - Fraction(value)) + Fraction(radius) <= unit


def test_digits_are_cut_and_never_rounded_up() -> None:
    assert words.digits_text(7.2247, 7.2247) == "7.2 of 7.2 digits"
    assert words.digits_text(2.99, 15.95) == "2.9 of 15.9 digits"
    assert words.digits_text(-1.0, 7.2) == "0.0 of 7.2 digits"
    assert words.whole_digits_text(2.96, 15.95) == "2 of 16 digits"
    assert words.whole_digits_text(15.95, 15.95) == "16 of 16 digits"
    assert words.whole_digits_text(15.8, 15.95) == "15 of 16 digits"


def test_ratios_are_powers_of_ten_when_large() -> None:
    ratios = (1e10, 3.14159, 10.0, 123.0, 12345.0, 1e-9, 0.0)
    assert [words.ratio(value) for value in ratios] == ["1e10", "3.1", "10", "120", "1e4", "1e-9", "0.0"]
    assert words.significant(1234.5, 2) == "1200.0"


def test_a_small_share_is_not_said_to_be_nothing() -> None:
    shares = (1.0, 0.994, 0.002, 0.0, -0.25, -0.001)
    assert [words.share(part) for part in shares] == ["100 %", "99 %", "< 1 %", "0 %", "-25 %", "> -1 %"]


def test_ordinals() -> None:
    assert [words.ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
    ]  # fmt: skip


def test_lists_have_one_conjunction_and_say_what_they_left_out() -> None:
    assert words.comma_list([]) == ""
    assert words.comma_list(["a"]) == "a"
    assert words.comma_list(["a", "b"], "or") == "a or b"
    assert words.comma_list(["a", "b", "c"]) == "a, b and c"
    assert words.capped_list(list("abcde")) == "a, b, c, d and e"
    assert words.capped_list(list("abcdefghijkl")) == "a, b, c, d, e and 7 more"


def test_counts_have_their_plural() -> None:
    assert words.count(1, "entry", "entries") == "1 entry"
    assert words.count(1200, "gradient") == "1,200 gradients"


def test_names_of_gradients() -> None:
    assert words.gradient_name("loss", "x", (1,)) == "d loss / d x[1]"
    assert words.gradient_name("loss", "W", (1, 2)) == "d loss / d W[1, 2]"
    assert [words.framework_name(name) for name in ("torch", "jax", "numpy", "mxnet")] == [
        "PyTorch", "JAX", "NumPy", "mxnet",
    ]  # fmt: skip


def test_arrays_are_shown_by_their_first_entries() -> None:
    assert words.array_text(2.0) == "2.0"
    assert words.array_text([0.25, 0.0]) == "[0.25, 0.0]"
    assert words.array_text(np.arange(9.0)) == "[0.0, 1.0, 2.0, 3.0, 4.0, 4 more]"
    assert words.array_text(np.zeros((2, 3))) == "an array of shape (2, 3)"


def test_a_paragraph_hangs_under_its_label() -> None:
    assert words.wrap("one two three", 14, "why: ") == ["why: one two", "     three"]
    assert words.wrap("", 14, "why: ") == ["why:"]
    assert words.wrap("averyveryverylongword", 5) == ["averyveryverylongword"]
    assert words.wrap("loss  correct", 20) == ["loss  correct"]


def test_a_wide_character_takes_two_columns_and_a_mark_none() -> None:
    assert words.columns("变x") == 3
    assert words.columns("e\N{COMBINING ACUTE ACCENT}") == 1
    assert words.wrap("变变 变变 ab", 9) == ["变变 变变", "ab"]
    assert words.wrap("变变 变变 ab", 8, "> ") == ["> 变变", "  变变", "  ab"]


def test_text_from_outside_loses_what_could_mislead_a_terminal() -> None:
    assert words.printable("a\tb\nc") == "a b c"
    assert words.printable("\x1b[31mred\u202e") == "�[31mred�"
    assert words.printable("naïve 値") == "naïve 値"


def test_every_mark_of_reading_order_is_hidden() -> None:
    names = (
        "LEFT-TO-RIGHT",
        "RIGHT-TO-LEFT",
        "ARABIC LETTER MARK",
        "FIRST STRONG ISOLATE",
        "POP DIRECTIONAL",
    )
    marks = [chr(k) for k in range(0x3000) if unicodedata.name(chr(k), "").startswith(names)]
    assert len(marks) == 12
    assert "\u200f" in marks
    for mark in (*marks, "\u2028", "\u2029"):
        assert words.printable(f"a{mark}b") == "a\N{REPLACEMENT CHARACTER}b", hex(ord(mark))


def test_a_complex_number_is_rounded_in_both_parts() -> None:
    assert words.significant(0.93 - 1.25j, 3) == "0.93-1.25i"
    assert words.significant(complex(1.0, 2.0), 10) == "1.0+2.0i"
