"""A norm is written as a root with a small number inside, with the words of the file."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gradproof.fixes.kind import Fault
from gradproof.fixes.kinds import norm_at_zero
from gradproof.ir.span import Span


def _added(framework: str, text: str, order: int = 1) -> list[str]:
    capture = SimpleNamespace(framework=framework, run=SimpleNamespace(order=order))
    case = SimpleNamespace(sources={"user.py": text}, capture=capture)
    span = Span("user.py", text.count("\n"), 0)
    offers = norm_at_zero.offer(Fault(case, SimpleNamespace(span=span)))  # type: ignore[arg-type]
    return [one[1:] for fix in offers for one in fix.patch.splitlines() if one[0] == "+" and one[:3] != "+++"]


@pytest.mark.parametrize(
    ("framework", "text", "expected"),
    [
        (
            "tensorflow",
            "import tensorflow as tf\nu = v / tf.norm(v, axis=-1, keepdims=True)\n",
            "u = v / tf.sqrt(tf.reduce_sum(tf.square(v), axis=-1, keepdims=True) + 1e-6)",
        ),
        (
            "torch",
            "import torch\nd = (a - b).norm(dim=1)\n",
            "d = torch.sqrt(torch.sum(torch.square(a - b), dim=1) + 1e-6)",
        ),
        (
            "jax",
            "import jax.numpy as np\ny = np.linalg.norm(p) - 0.5\n",
            "y = np.sqrt(np.sum(np.square(p)) + 1e-6) - 0.5",
        ),
    ],
)
def test_a_norm_becomes_a_root(framework: str, text: str, expected: str) -> None:
    assert _added(framework, text) == [expected]


@pytest.mark.parametrize("norm", ["torch.norm(v, 1)", "torch.linalg.norm(v, ord=1)", "layer.norm(v, w)"])
def test_silent_for_another_order(norm: str) -> None:
    assert not _added("torch", f"import torch\ny = {norm}\n")


def test_behind_a_second_derivative_the_norm_may_stand_elsewhere() -> None:
    text = "import jax\nimport jax.numpy as jnp\ny = jnp.linalg.norm(x) ** 3\ng = jax.grad(f)(x)\n"
    assert not _added("jax", text)
    assert _added("jax", text, order=2) == ["y = jnp.sqrt(jnp.sum(jnp.square(x)) + 1e-6) ** 3"]
