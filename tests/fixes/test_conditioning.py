"""The formula or the problem: pairs that look alike, told apart by what another way of writing does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.fixes.conditioning import relative_growth
from tests.fixes.expressions import program_of
from tests.fixes.users import checked

# A subtraction that loses digits in both; in the first another way of writing keeps them, in the second none can.
PAIRS: dict[str, tuple[str, Any, str, Any]] = {
    "roots": (
        "np.sqrt(x + 1) - np.sqrt(x)", np.float64(1e13), "np.sqrt(x * x * x - np.float32(2.0))",
        np.float32(1.259922),
    ),
    "near 1": ("(1 - np.cos(x)) ** 2", np.float32(1e-3), "(np.float32(1.0) - x) ** 3", np.float32(0.99999)),
    "a steep function": (
        "np.log(np.exp(x) - 1)", np.float32(1e-5), "np.tan(x + np.float32(0.87079036))", np.float32(0.7),
    ),
}  # fmt: skip


def _kinds(expression: str, x: Any, name: str) -> list[str]:
    report = checked(f"import numpy as np\n\ndef f(x):\n    return {expression}\n", x, name=name)
    return [one.kind for one in report.gradients[0].diagnostics]


@pytest.mark.parametrize("name", PAIRS)
def test_what_another_formula_mends_is_not_called_ill_conditioned(name: str) -> None:
    formula, x, _, _ = PAIRS[name]
    kinds = _kinds(formula, x, f"<formula {name}>")
    assert kinds
    assert "ill-conditioned" not in kinds


@pytest.mark.parametrize("name", ["roots", "a steep function"])
def test_what_no_formula_mends_is_called_ill_conditioned(name: str) -> None:
    _, _, problem, x = PAIRS[name]
    assert _kinds(problem, x, f"<problem {name}>") == ["ill-conditioned"]


def test_a_subtraction_of_exact_numbers_is_no_fault() -> None:
    _, _, problem, x = PAIRS["near 1"]
    assert _kinds(problem, x, "<exact>") == []


@pytest.mark.parametrize(
    ("text", "x", "expected"), [("x**3", 2.0, 2.0), ("exp(x)", 3.0, 3.0), ("log(x)", 5.0, 1.0)]
)
def test_the_growth_is_that_of_the_derivative(text: str, x: float, expected: float) -> None:
    """x f''(x) / f'(x) is 2 for a cube, x for the exponential, -1 for the logarithm."""
    program = program_of(text, {"x": x}, "float64")
    assert relative_growth(program, program.inputs[0], ()) == pytest.approx(expected)
