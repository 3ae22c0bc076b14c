"""Options that make no sense are refused where they are made, by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.errors import InvalidInput
from gradproof.options import TOLERANCES, Options


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"tolerances": 1e-3}, "Options.tolerances maps dtypes to numbers"),
        ({"tolerances": {"flaot32": 1e-3}}, "no dtype 'flaot32'; did you mean `float32`?"),
        ({"tolerances": {"float32": -1e-3}}, r'Options.tolerances\["float32"\] is a finite number from 0 on'),
        ({"tolerances": {"float32": math.nan}}, "it was nan"),
        ({"tolerances": {"float32": math.inf}}, "it was inf"),
        ({"tolerances": {"float32": "1e-3"}}, "it was '1e-3'"),
        ({"share_of_largest": -1}, "Options.share_of_largest"),
        ({"precision_cap_bits": 0}, "Options.precision_cap_bits is a whole number from 1 on; it was 0"),
        ({"precision_cap_bits": 128.0}, "it was 128.0"),
        ({"memory_limit_bytes": True}, "Options.memory_limit_bytes"),
        ({"seconds": -1}, "Options.seconds"),
        ({"seconds": "soon"}, "Options.seconds"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        Options(**given)


def test_a_dtype_that_is_not_named_keeps_its_tolerance() -> None:
    options = Options(tolerances={"float32": 1e-9}, seconds=None)
    assert options.tolerances == {**TOLERANCES, "float32": 1e-9}
    report = gradproof.check(lambda x: x * x, np.float64(2.0), options=options)
    assert [str(verdict) for verdict in report.verdicts] == ["correct"]


def test_the_options_do_not_change_with_what_they_were_made_from() -> None:
    mine = {"float32": 1e-9}
    options = Options(tolerances=mine)
    mine["float32"] = 1.0
    assert options.tolerance("float32") == 1e-9


def test_something_else_is_no_options() -> None:
    for call in (gradproof.check, gradproof.assert_correct):
        with pytest.raises(InvalidInput, match="not an object of type dict"):
            call(lambda x: x * x, 2.0, options={"seconds": 1})  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="options="), gradproof.watch(options=60):  # type: ignore[arg-type]
        pass
    with pytest.raises(InvalidInput, match="--checks takes"), gradproof.watch(checks=5):  # type: ignore[arg-type]
        pass
