"""A patch is offered only where every name in its lines has a value by then, and none of a module is a number."""

from __future__ import annotations

import pytest

from gradproof.fixes.bound import is_runnable

RUNNABLE = {
    "a name of the line before": ("x = 1\ny = x\n", 2),
    "a function's argument": ("def f(x):\n    return x\n", 2),
    "what an outer function has": ("def f(x):\n    def g():\n        return x\n    return g\n", 3),
    "a function that stands further down": ("def f():\n    return g()\n\ndef g():\n    return 1\n", 2),
    "an import": ("import numpy as np\ny = np.zeros(3)\n", 2),
    "a star": ("from numpy import *\ny = zeros(3)\n", 2),
    "a built-in": ("y = abs(-1)\n", 1),
    "a loop": ("for k in range(3):\n    y = k\n", 2),
    "a list made of a loop": ("y = [k for k in range(3)]\n", 1),
    "a tape": ("import t\nwith t.Tape() as tape:\n    tape.watch(1)\n", 3),
    "a module that is handed on": ("import numpy as np\ndef f(xp):\n    return xp.exp(1)\ny = f(np)\n", 4),
    "a module's name for something else": ("import x\nx = 1\ny = x + 1\n", 3),
    "a function that was imported": ("import jax\nfrom m import f\ny = jax.grad(f)\n", 3),
    "an error that was caught": ("try:\n    pass\nexcept ValueError as e:\n    y = e\n", 4),
}  # fmt: skip
NOT_RUNNABLE = {
    "a name of a later line": ("y = x\nx = 1\n", 1),
    "a name of its own line": ("x = x + 1\n", 1),
    "a name of another function": ("def f(x):\n    return x\n\ny = x\n", 4),
    "a later line of the same function": ("def f():\n    y = x\n    x = 1\n    return y\n", 2),
    "no name at all": ("y = nowhere\n", 1),
    "no Python": ("y = = 1\n", 1),
    "a module as an argument": ("import torch\nimport torch.nn.functional as F\ny = torch.exp(F)\n", 3),
    "a module in a sum": ("import numpy as np\ny = np + 1\n", 2),
    "a name of a class": ("class A:\n    x = 1\n    def f(self):\n        return x\n", 4),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNNABLE)
def test_names_with_a_value(name: str) -> None:
    text, line = RUNNABLE[name]
    assert is_runnable(text, range(line, line + 1))


@pytest.mark.parametrize("name", NOT_RUNNABLE)
def test_names_without_one(name: str) -> None:
    text, line = NOT_RUNNABLE[name]
    assert not is_runnable(text, range(line, line + 1))


def test_lines_that_were_not_changed_are_the_users_own() -> None:
    assert is_runnable("y = nowhere\nz = 1\n", range(2, 3))
