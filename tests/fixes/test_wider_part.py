"""A cast to few bits is widened in a patch only where what it meets does not forbid it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.fixes.patched import audited

SCRIPT = """import torch
w = torch.tensor([0.001, 0.002, -0.003], requires_grad=True)
x = torch.tensor([[0.01, 0.02, 0.015], [0.03, 0.01, 0.02]], dtype=torch.{other})
w16 = w.to(torch.float16)
loss = (({use} - 0.0001) ** 2).mean()
loss.backward()
"""


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize(
    ("other", "use", "is_patched"), [("float16", "x @ w16", False), ("float32", "w16 * 3.0", True)]
)
def test_a_cast_is_not_widened_beside_narrow_arrays(
    other: str, use: str, is_patched: bool, tmp_path: Path
) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(other=other, use=use), encoding="utf-8")
    (gradient,) = audited(path).gradients
    fixes = [one.fix for one in gradient.diagnostics if one.kind == "low-precision"]
    assert fixes and all(fix is not None for fix in fixes)
    claimed = [fix for fix in fixes if fix is not None and fix.checked and fix.patch]
    assert bool(claimed) is is_patched


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_a_setting_of_the_whole_program_is_said(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        "import jax\nimport jax.numpy as jnp\ndef annuity(r):\n    return (1 - (1 + r) ** -12.0) / r\n"
        "print(jax.grad(annuity)(jnp.float32(2e-6)))\n",
        encoding="utf-8",
    )
    (gradient,) = audited(path).gradients
    known = [fix for one in gradient.diagnostics if one.fix for fix in (one.fix, *one.fix.others)]
    wide = [fix for fix in known if "float64" in fix.text and fix.patch]
    assert wide and all("enable_x64" in fix.patch and "in the whole program" in fix.text for fix in wide)
