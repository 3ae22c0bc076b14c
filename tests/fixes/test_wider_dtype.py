"""A dtype of 16 bits that the user's lines name becomes float32; where they name none, float64 is made the default."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gradproof.fixes.kind import Fault
from gradproof.fixes.kinds import wider_dtype, wider_script
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict


def _added(framework: str, text: str, line: int, verdict: Verdict = Verdict.INACCURATE) -> list[list[str]]:
    case = SimpleNamespace(
        verdict=verdict,
        sources={"user.py": text},
        source=SimpleNamespace(dtype="float32"),
        capture=SimpleNamespace(framework=framework),
    )
    fault = Fault(case, SimpleNamespace(span=Span("user.py", line, 0)))  # type: ignore[arg-type]
    offers = (*wider_dtype.offer(fault), *wider_script.offer(fault))
    lines = [fix.patch.splitlines() for fix in offers]
    return [[one[1:] for one in each if one[0] == "+" and one[:3] != "+++" and one != "+"] for each in lines]


def test_on_the_line_then_in_the_function_then_in_the_file() -> None:
    text = (
        "import torch\n\nw = torch.ones(3, dtype=torch.float16)\n\n\ndef f(x):\n    total = x.half().sum()\n"
        "    return total + x.to('bfloat16').sum()\n"
    )
    line, second = "    total = x.float().sum()", "    return total + x.to('float32').sum()"
    first = "w = torch.ones(3, dtype=torch.float32)"
    assert _added("torch", text, 7) == [[line], [line, second], [first, line, second]]


@pytest.mark.parametrize(
    ("framework", "text", "setting"),
    [
        ("jax", "import jax.numpy as jnp\n\ny = f(x)\n", 'jax.config.update("jax_enable_x64", True)'),
        ("torch", "import torch as t\n\ny = f(x)\n", "t.set_default_dtype(torch.float64)"),
    ],
)
def test_float64_where_no_dtype_is_named(framework: str, text: str, setting: str) -> None:
    (added,) = _added(framework, text, 3)
    assert setting.replace("torch.", "t.") in added


def test_silent_for_tensorflow_without_names_and_for_a_wrong_rule() -> None:
    assert not _added("tensorflow", "import tensorflow as tf\n\ny = f(x)\n", 3)
    assert not _added("jax", "import jax.numpy as jnp\n\ny = f(x)\n", 3, Verdict.WRONG)
