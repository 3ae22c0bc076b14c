"""The words in which a hand-written rule is mended: the user's own, at the user's own lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.patched import changed, patched

_HEAD = "import numpy as np\nimport gradproof as gp\n"
_TAIL = (
    "x = gp.Variable([0.3, -0.7])\nwith gp.GradientTape() as tape:\n    loss = np.sum({})\n"
    "print(tape.gradient(loss, x))\n"
)

# The rule, how it is called, and what the patch takes away and adds.
RULES = {
    "the argument in the place of the result": (
        "@gp.custom_gradient\ndef f(x):\n    s = 1.0 / (1.0 + np.exp(-x))\n"
        "    return s, lambda up: up * x * (1 - x)\n",
        "f(x) ** 2",
        ["-return s, lambda up: up * x * (1 - x)", "+return s, lambda up: up * s * (1 - s)"],
    ),
    "two slopes, each by its name": (
        "@gp.custom_gradient\ndef f(x, w):\n    def rule(up):\n"
        "        dx = up * np.cos(x)\n        dw = up * np.sin(w)\n        return dx, dw\n"
        "    return np.sin(x) * w, rule\n",
        "f(x, 2.0 * x)",
        ["-dx = up * np.cos(x)", "-dw = up * np.sin(w)", "+dx = up * w * np.cos(x)", "+dw = up * np.sin(x)"],
    ),
    "a slope by a name that something else reads too": (
        "@gp.custom_gradient\ndef f(x):\n    def rule(up):\n"
        "        slope = up * x\n        assert slope.shape == x.shape\n"
        "        return slope\n    return np.exp(x) * x, rule\n",
        "f(x)",
        ["-return slope", "+return up * (np.exp(x) + x * np.exp(x))"],
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_mended_where_its_slopes_are_written(name: str, tmp_path: Path) -> None:
    rule, use, lines = RULES[name]
    _, diff, after = patched(_HEAD + rule + _TAIL.format(use), tmp_path)
    assert changed(diff) == lines
    assert str(after.verdict) == "correct"
