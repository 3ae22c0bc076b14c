"""What a choice picks out of a table becomes a mean of all rows, at the user's own lines."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gradproof.fixes.kind import Fault
from gradproof.fixes.kinds import soft_choice
from gradproof.ir.span import Span
from gradproof.render.to_diff import hunks_of

HEADS = {
    "torch": "import torch\n",
    "jax": "import jax\nimport jax.numpy as jnp\n",
    "tensorflow": "import tensorflow as tf\n",
}


def _offered(framework: str, body: str, line: int) -> list[tuple[str, ...]]:
    """The lines that every offer adds; `line` is that of the choice, counted in the body."""
    text = HEADS[framework] + body
    span = Span("user.py", line + HEADS[framework].count("\n"), 0)
    case = SimpleNamespace(
        sources={"user.py": text}, capture=SimpleNamespace(framework=framework, program=None)
    )
    fault = Fault(case, SimpleNamespace(span=span))  # type: ignore[arg-type]
    found = []
    for fix in soft_choice.offer(fault):
        assert fix.changes_meaning and any(hunks_of(fix.patch, text))
        added = [one[1:] for one in fix.patch.splitlines() if one[0] == "+" and one[:3] != "+++"]
        found.append(tuple(one.strip() for one in added))
    return found


@pytest.mark.parametrize(
    ("framework", "body", "line", "expected"),
    [
        (
            "jax",
            "def f(p, x):\n    best = jnp.argmax(x @ p, axis=-1)\n    return table[best] * 2\n",
            2,
            ("best = jax.nn.softmax(x @ p, axis=-1)", "return jnp.tensordot(best, table, 1) * 2"),
        ),
        (
            "torch",
            "y = values[z.argmax(-1)]\n",
            1,
            ("y = torch.tensordot(torch.softmax(z, dim=-1), values, 1)",),
        ),
        (
            "torch",
            "k = int(torch.argmin(d, dim=-1))\ny = rows[k]\n",
            1,
            ("k = torch.softmax(-d, dim=-1)", "y = torch.tensordot(k, rows, 1)"),
        ),
        (
            "torch",
            "e = torch.nn.Embedding(3, 2)\nk = torch.argmax(z, dim=-1)\ny = e(k)\nprint(k)\n",
            2,
            ("y = torch.tensordot(torch.softmax(z, dim=-1), e.weight, 1)",),
        ),
        (
            "tensorflow",
            "k = tf.argmin(a - b, axis=1)\ny = tf.gather(book, k)\n",
            1,
            ("k = tf.nn.softmax(-(a - b), axis=1)", "y = tf.tensordot(k, book, 1)"),
        ),
        ("tensorflow", "y = tf.one_hot(tf.argmax(z, axis=-1), 3)\n", 1, ("y = tf.nn.softmax(z, axis=-1)",)),
    ],
)  # fmt: skip
def test_a_row_that_is_picked_becomes_a_mean_of_rows(
    framework: str, body: str, line: int, expected: tuple[str, ...]
) -> None:
    assert _offered(framework, body, line) == [expected]


@pytest.mark.parametrize(
    ("framework", "body", "line"),
    [
        ("torch", "k = torch.argmax(z, dim=0)\ny = rows[k]\n", 1),  # softmax would weigh the wrong axis
        ("torch", "k = torch.argmax(z, dim=-1)\nif k:\n    k = 0\ny = rows[k]\n", 1),  # another choice, too
        ("torch", "k = torch.argmax(z, dim=-1)\ny = layer(k)\n", 1),  # whatever a layer does with places
        ("torch", "k = torch.argmax(z, dim=-1)\ny = rows[:, k]\n", 1),
        ("tensorflow", "k = tf.argmax(z, axis=-1)\ny = tf.gather(rows, k, axis=1)\n", 1),
        ("jax", "k = jnp.argmax(z, axis=-1)\ny = jnp.take(rows, k)\n", 1),  # of all numbers, in a row
    ],
)
def test_silent_where_the_choice_is_no_place_of_the_first_axis(framework: str, body: str, line: int) -> None:
    assert not _offered(framework, body, line)
