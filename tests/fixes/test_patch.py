"""Fixes in the user's own lines, on NumPy."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from gradproof.fixes.render_term import Unwritten, number_expression
from gradproof.ir.program import Builder
from tests.fixes.users import changed_lines, checked

# Source of the function's body, the argument, and the lines that change.
PATCHES = {
    "the same line": (
        "    return (1 - np.cos(x)) ** 2\n",
        np.float64(1e-7),
        ["-return (1 - np.cos(x)) ** 2", "+return (2 * np.square(np.sin(x / 2))) ** 2"],
    ),
    "two roots": (
        "    return np.sqrt(x + 1) - np.sqrt(x)\n",
        np.float64(1e13),
        ["-return np.sqrt(x + 1) - np.sqrt(x)", "+return 1 / (np.sqrt(x + 1) + np.sqrt(x))"],
    ),
    "numbers stay as they were written": (
        "    y = x * 1e20 + 1.0\n    z = y - 1e20\n    return z * z\n",
        np.float64(1.0),
        ["-y = x * 1e20 + 1.0", "-z = y - 1e20", "+z = (x - 1) * 1e20 + 1.0"],
    ),
    "a name that is still needed stays": (
        "    y = np.exp(x)\n    z = y - 1\n    return z * z * z + 0.0 * y\n",
        np.float64(1e-12),
        ["-z = y - 1", "+z = np.expm1(x)"],
    ),
    "the argument of another function is another variable": (
        "    y = np.exp(x)\n    z = y - 1\n    return z * z + 0.0 * (lambda y: y)(x)\n",
        np.float64(1e-12),
        ["-y = np.exp(x)", "-z = y - 1", "+z = np.expm1(x)"],
    ),
    "a function inside that reads a name keeps it": (
        "    y = np.exp(x)\n    z = y - 1\n    return z * z + 0.0 * (lambda t: y + t)(x)\n",
        np.float64(1e-12),
        ["-z = y - 1", "+z = np.expm1(x)"],
    ),
    "a name that was given another value in between is not looked behind": (
        "    y = np.exp(x)\n    x = x * 1.0\n    z = y - 1\n    return z * z\n",
        np.float64(1e-12),
        [],
    ),
    "arguments of functions keep their parentheses": (
        "    return np.log((np.exp(x) - 1))\n",
        np.float64(1e-10),
        ["-return np.log((np.exp(x) - 1))", "+return np.log(np.expm1(x))"],
    ),
    "a function that NumPy writes otherwise": (
        "    return np.log(np.exp(x) + 1) - x\n",
        np.float64(30.0),
        ["-return np.log(np.exp(x) + 1) - x", "+return np.logaddexp(0, -x)"],
    ),
    "a minus ahead of a new minus": (
        "    p = 1 / (1 + np.exp(-x))\n    return -np.log(1 - p)\n",
        np.float64(30.0),
        ["-p = 1 / (1 + np.exp(-x))", "-return -np.log(1 - p)", "+return np.logaddexp(0, x)"],
    ),
    "an index of several arrays is taken of the new formula": (
        "    p = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)\n"
        "    return -np.mean(np.log(p[[0, 1], [1, 0]]))\n",
        np.array([[800.0, 0.0], [1.0, 900.0]]),
        [
            "-p = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)",
            "-return -np.mean(np.log(p[[0, 1], [1, 0]]))",
            "+return -np.mean((x - np.logaddexp.reduce(x, axis=1, keepdims=True))[[0, 1], [1, 0]])",
        ],
    ),
    "a clip to the ends of the domain ends inside": (
        "    cosine = np.clip(np.sum(x * np.array([1.0, 0.0]), axis=1), -1, 1)\n"
        "    return np.sum(np.arccos(cosine))\n",
        np.array([[1.0, 0.0], [0.6, 0.8]]),
        [
            "-cosine = np.clip(np.sum(x * np.array([1.0, 0.0]), axis=1), -1, 1)",
            "+cosine = np.clip(np.sum(x * np.array([1.0, 0.0]), axis=1), -0.999999, 0.999999)",
        ],
    ),
    "a name for what the new formula needs is used": (
        "    d = np.sqrt(x * x - 4.0)\n    return (x - d) / 2.0\n",
        np.float64(1e8),
        ["-return (x - d) / 2.0", "+return (4.0 / (d + x)) / 2.0"],
    ),
    "along an axis": (
        "    return np.sum(np.sqrt(np.mean(x**2, axis=1) - np.mean(x, axis=1) ** 2))\n",
        np.asarray([[1e7, 1e7 + 1, 1e7 + 2.5], [2e7, 2e7 + 1, 2e7 + 3.5]]),
        [
            "-return np.sum(np.sqrt(np.mean(x**2, axis=1) - np.mean(x, axis=1) ** 2))",
            "+return np.sum(np.sqrt(np.mean(np.square(x - np.mean(x, axis=1, keepdims=True)), axis=1)))",
        ],
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of what overflows
@pytest.mark.parametrize("name", PATCHES)
def test_the_patch_is(name: str) -> None:
    body, argument, expected = PATCHES[name]
    report = checked(f"import numpy as np\n\ndef f(x):\n{body}", argument, name=f"<{name}>")
    assert changed_lines(report) == expected


def test_what_was_run_is_said() -> None:
    report = checked(
        "import numpy as np\n\ndef f(x):\n    return (1 - np.cos(x)) ** 2\n", np.float64(1e-7), name="<said>"
    )
    fix = report.gradients[0].diagnostics[0].fix
    assert fix is not None
    assert fix.checked.startswith("with this change the recorded ops, run in NumPy, return ")
    assert "equal in exact arithmetic, here and at 8 points nearby" in fix.checked


def test_the_patched_program_is_clean() -> None:
    report = checked(
        "import numpy as np\n\ndef f(x):\n    return (2 * np.square(np.sin(x / 2))) ** 2\n",
        np.float64(1e-7),
        name="<clean>",
    )
    assert report.gradients[0].diagnostics == ()


def test_a_change_of_meaning_elsewhere_is_marked() -> None:
    source = "import numpy as np\n\ndef f(x):\n    return np.log(np.sqrt(1 - np.cos(x) ** 2))\n"
    report = checked(source, np.float64(1e-5), name="<elsewhere>")
    fixes = [d.fix for d in report.gradients[0].diagnostics if d.fix is not None]
    assert fixes
    assert all(fix.changes_meaning for fix in fixes if "use the sine" in fix.text)


def test_without_the_source_the_text_still_stands() -> None:
    namespace: dict = {}
    exec("import numpy as np\ndef f(x):\n    return (1 - np.cos(x)) ** 2\n", namespace)
    import gradproof

    fix = gradproof.check(namespace["f"], np.float64(1e-7)).gradients[0].diagnostics[0].fix
    assert fix is not None
    assert fix.text
    assert fix.checked
    assert not fix.patch


def test_a_mask_is_not_written_as_a_number() -> None:
    """`where(1.0, x, 0.0)` is a call that no library takes."""
    builder = Builder()
    mask, one = builder.constant(np.ones(2, bool)), builder.constant(np.ones(2))
    program = builder.build([builder.add("select", mask, one, one, value=np.ones(2))])
    with pytest.raises(Unwritten):
        number_expression(program[mask])
    assert ast.unparse(number_expression(program[one])) == "1"
