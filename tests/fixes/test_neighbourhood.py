"""Programs too large to be searched and proven as a whole: the neighbourhood of what is guilty is cut out."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.fixes.patched import changed, patched

pytestmark = pytest.mark.timeout(300)

LONG = """import numpy as np
import gradproof as gp
x = gp.Variable(np.array([1e-9, 3e-9]))
with gp.GradientTape() as tape:
    y = x
    for k in range(500):
        y = np.sin(y) * 1.0 + np.cos(y) * 0.0
        y = y + 0.0
    loss = np.sum(np.square(np.exp(y) - 1.0))
print(tape.gradient(loss, x))
"""
# The same line in every turn of the loop; its digits are lost in all of them.
IN_EVERY_TURN = """import numpy as np
import gradproof as gp
x = gp.Variable(np.array([1e-9, 3e-9]))
with gp.GradientTape() as tape:
    y, loss = x, 0.0
    for k in range(300):
        y = np.sin(y) * 1.0 + np.cos(y) * 0.0
        loss = loss + np.sum(np.square(1.0 - np.exp(-y)))
print(tape.gradient(loss, x))
"""
WIDE = """import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(400, 300), torch.nn.Tanh(), torch.nn.Linear(300, 3))
x, y = torch.randn(16, 400), torch.arange(16) % 3
p = torch.softmax(240 * model(x), dim=1)
loss = -torch.log(p)[torch.arange(16), y].mean()
loss.backward()
"""


def test_a_program_of_thousands_of_nodes_gets_another_formula_where_it_is_guilty(tmp_path: Path) -> None:
    before, diff, after = patched(LONG, tmp_path)
    assert str(before.verdict) == "inaccurate"
    assert changed(diff) == [
        "-loss = np.sum(np.square(np.exp(y) - 1.0))",
        "+loss = np.sum(np.square(np.expm1(y)))",
    ]
    (found,) = [one.fix for one in before.diagnostics if one.severity == "error"]
    assert found is not None and "What is changed is equal in exact arithmetic" in found.checked
    assert str(after.verdict) == "correct"


def test_a_line_that_ran_in_every_turn_is_changed_for_all_of_them(tmp_path: Path) -> None:
    before, diff, after = patched(IN_EVERY_TURN, tmp_path)
    assert str(before.verdict) == "inaccurate"
    assert [line for line in changed(diff) if line[0] == "+"] == [
        "+loss = loss + np.sum(np.square(-np.expm1(-y)))"
    ]
    assert str(after.verdict) == "correct"


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_model_with_many_parameters_is_mended_at_its_loss(tmp_path: Path) -> None:
    before, diff, after = patched(WIDE, tmp_path)
    assert before.level == "error"
    assert "log_softmax" in diff
    assert after.level != "error"
