"""How numbers, lists and names are put into words, so that every message sounds alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from gradproof.diagnosis.entries import digits_possible
from gradproof.diagnosis.terminal import columns as columns
from gradproof.diagnosis.terminal import printable as printable
from gradproof.diagnosis.terminal import wrap as wrap
from gradproof.frameworks import framework

LIST_CAP = 5  # a reader compares five things at a glance; of more, the number says enough
MOST_DIGITS = 1000.0  # more than any number format has; a forged report may claim more
FEWEST_PLAIN, MOST_PLAIN = -4, 6  # powers of ten between which a number is written without an exponent


def number(value: Any, radius: float = 0.0, dtype: str = "float64") -> str:
    """A real or complex number to the digits that are certain, those within `radius` of the truth.

    With no radius: the fewest digits that tell it from the other numbers of its dtype.
    """
    if isinstance(value, complex | np.complexfloating):
        real = "float32" if dtype == "complex64" else "float64"
        imaginary = number(value.imag, radius, real)
        sign = "" if imaginary.startswith("-") else "+"
        return f"{number(value.real, radius, real)}{sign}{imaginary}i"
    value = float(value)
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if not math.isfinite(radius):
        return "unknown"
    if radius <= 0:
        return _arrange(Decimal(_shortest(value, dtype)))
    # The last digit kept is the last whose unit is at least twice the radius; with none, nothing is certain.
    unit = math.ceil(math.log10(radius) + math.log10(2))
    exponent = math.floor(math.log10(abs(value))) if value else unit - 1
    if exponent < unit:
        return f"{_round(value, 2)} ± {_round(radius, 2)}"
    most = math.ceil(digits_possible("float64") or 0)
    return _arrange(Decimal(f"{value:.{min(exponent - unit, most - 1)}e}"), strip=False)


def significant(value: complex, digits: int) -> str:
    """A number, or both parts of one, rounded to so many digits: more would only distract."""
    if isinstance(value, complex):
        real, imaginary = significant(value.real, digits), significant(value.imag, digits)
        return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}i"
    value = float(value)
    return number(value) if not math.isfinite(value) else _round(value, digits)


def ratio(value: float) -> str:
    """How many times one thing is larger than another: a power of ten, or a plain number when it is small."""
    if not math.isfinite(value) or value <= 0:
        return number(value)
    return _round(value, 2).removesuffix(".0") if 1e-2 < value < 1e3 else f"1e{round(math.log10(value))}"


def digits_text(digits: float, possible: float) -> str:
    """`7.2 of 7.2 digits`; cut, never rounded up, so that no digit is claimed that is not there."""
    return f"{digits_number(min(digits, possible))} of {digits_number(possible)} digits"


def whole_digits_text(digits: float, possible: float) -> str:
    """`2 of 16 digits`; all of them only where nothing is lost."""
    whole = round(possible) if digits >= possible - 0.05 else math.floor(max(digits, 0.0))
    return f"{whole} of {round(possible)} digits"


def share(part: float) -> str:
    """A share as a percentage; a small one is not said to be nothing."""
    percent = 100 * part
    if 0 < abs(percent) < 1:
        return "< 1 %" if percent > 0 else "> -1 %"
    return f"{percent:.0f} %"


def ordinal(n: int) -> str:
    """`1st`, `2nd`, `11th`."""
    suffix = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"


def count(n: int, noun: str, plural: str = "") -> str:
    """`1 gradient`, `1,200 gradients`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def comma_list(items: Sequence[str], conjunction: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {conjunction} {items[-1]}"


def capped_list(items: Sequence[str], cap: int = LIST_CAP) -> str:
    """A comma list that stops after `cap` items and says how many were left out."""
    if len(items) <= cap:
        return comma_list(items)
    return comma_list([*items[:cap], f"{len(items) - cap:,} more"])


def array_text(array: Any, dtype: str = "float64", cap: int = LIST_CAP) -> str:
    """A number, or a bracketed list of the first few entries and how many were left out."""
    array = np.asarray(array)
    if array.ndim == 0:
        return number(array.item(), dtype=dtype)
    if array.ndim > 1:
        return f"an array of shape {shape_text(array.shape)}"
    shown = [number(entry, dtype=dtype) for entry in array[:cap].tolist()]
    left = [f"{array.size - cap:,} more"] if array.size > cap else []
    return f"[{', '.join(shown + left)}]"


def nonfinite_text(array: Any) -> str:
    """`NaN in 1 of 2 entries`, `infinite`; empty where every entry is a number."""
    array = np.asarray(array)
    if array.dtype.kind in "biuO":
        return ""
    with np.errstate(all="ignore"):
        n_nan, n_bad = int(np.isnan(array).sum()), int((~np.isfinite(array)).sum())
    if not n_bad:
        return ""
    what = "infinite" if not n_nan else "NaN" if n_nan == n_bad else "NaN or infinite"
    return what if array.size == 1 else f"{what} in {n_bad:,} of {array.size:,} entries"


def shape_text(shape: Sequence[int]) -> str:
    """A shape as Python writes a tuple."""
    return str(tuple(int(n) for n in shape))


def framework_name(name: str) -> str:
    """The name a framework gives itself."""
    return framework(name).title


def gradient_name(target: str, source: str, index: tuple[int, ...] = ()) -> str:
    """`d loss / d x[1]`. For a second derivative too: its target is what was computed from a gradient."""
    entry = f"[{', '.join(map(str, index))}]" if index else ""
    return f"d {target} / d {source}{entry}"


def _shortest(value: float, dtype: str) -> str:
    """The fewest digits that are read back as the same number of this dtype."""
    if dtype == "bfloat16":
        return f"{value:.3g}"  # three digits tell any two of its neighbours apart
    if dtype in ("float16", "float32"):
        with np.errstate(over="ignore"):
            narrow = np.dtype(dtype).type(value)
        # A number that is none of its dtype, such as one computed from several, is shown as it is.
        return str(narrow) if float(narrow) == value else repr(value)
    return repr(value)


def _round(value: float, digits: int) -> str:
    return _arrange(Decimal(f"{value:.{digits - 1}e}"))


def _arrange(decimal: Decimal, strip: bool = True) -> str:
    """A decimal number, plain or with an exponent.

    With `strip` it is a number of the machine and gets a point as Python prints it; without, each digit shown
    is a claim, and none may be added or dropped.
    """
    sign, digits, _ = decimal.as_tuple()
    exponent = decimal.adjusted()
    minus = "-" if sign else ""
    text = "".join(map(str, digits))
    if strip:
        text = text.rstrip("0") or "0"
    end = ".0" if strip else ""
    if text == "0":
        return f"{minus}0{end}"
    if not FEWEST_PLAIN <= exponent <= MOST_PLAIN or (exponent >= len(text) and not strip):
        return f"{minus}{text[0]}{'.' + text[1:] if text[1:] else end}e{exponent}"
    if exponent < 0:
        return f"{minus}0.{'0' * (-exponent - 1)}{text}"
    whole, fraction = text[: exponent + 1].ljust(exponent + 1, "0"), text[exponent + 1 :]
    return f"{minus}{whole}{'.' + fraction if fraction else end}"


def digits_number(digits: float) -> str:
    """A number of digits to a tenth, cut and not rounded."""
    # The tiny addend keeps 7.2, which is stored as a little less, from becoming 7.1.
    return f"{math.floor(10 * min(max(digits, 0.0), MOST_DIGITS) + 1e-9) / 10:.1f}"
