"""Changes look as their author would have made them."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from gradproof.fixes.align import is_method
from gradproof.fixes.edit import diff, placed, quoted_alike, with_a_name
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.ir import syntax
from tests.fixes.patched import changed, patched
from tests.fixes.users import checked


def _source(text: str) -> ParsedSource:
    found = parsed(text)
    assert found is not None
    return found


def test_words_keep_the_quotation_marks_of_the_file() -> None:
    source = _source("x = params[\"w\"] + params['b']\n")
    assert (
        quoted_alike(source, "f(params['w'], params['b'], 'new')") == "f(params[\"w\"], params['b'], 'new')"
    )


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("y = f(x**2)\n", "y = f(a.b**-2 + (x + 1) ** 2 + x[0] ** 2 + f(x) ** 2)\n"),
        ("y = f(x ** 2)\n", "y = f(a.b ** -2 + (x + 1) ** 2 + x[0] ** 2 + f(x) ** 2)\n"),
        ("y = x**2 + x ** 3\n", "y = f(a.b ** -2 + (x + 1) ** 2 + x[0] ** 2 + f(x) ** 2)\n"),
        ("y = f(**x)\n", "y = f(a.b ** -2 + (x + 1) ** 2 + x[0] ** 2 + f(x) ** 2)\n"),
    ],
)
def test_powers_of_names_and_numbers_are_written_as_in_the_file(before: str, expected: str) -> None:
    new = "y = f(a.b ** -2 + (x + 1) ** 2 + x[0] ** 2 + f(x) ** 2)\n"
    assert diff(_source(before), [new], "a.py").splitlines(keepends=True)[-1] == f"+{expected}"


def test_what_is_said_twice_gets_a_name_if_a_line_can_come_before() -> None:
    long = "np.sum(diff ** 2, axis=-1)"
    text = f"np.where({long} > 0, {long}, 1.0)"
    for before, expected in (
        (
            "def f(diff):\n    return g(diff)\n",
            ("np.where(part > 0, part, 1.0)", {2: f"    part = {long}\n"}),
        ),
        ("y = (\n    g(diff)\n)\n", ("np.where(part > 0, part, 1.0)", {1: f"part = {long}\n"})),
        ("while g(diff):\n    pass\n", (text, {})),
        ("h = [g(diff) for diff in xs]\n", (text, {})),
        ("def f(diff): return g(diff)\n", (text, {})),
    ):
        source = _source(before)
        call = next(one for one in ast.walk(source.tree) if isinstance(one, ast.Call))
        assert with_a_name(source, call, text) == expected


def test_a_new_line_stands_as_far_in_as_the_statement_it_precedes() -> None:
    source = _source("if a:\n\ty = é; z = g(\n  x)\n")
    first, second = (one for one in ast.walk(source.tree) if isinstance(one, ast.Assign))
    assert source.indent(first) == "\t" and source.indent(second) == "\ty = é; "


def test_a_name_needs_no_parentheses_but_those_of_a_call() -> None:
    source = _source("y = g(x)\n")
    call = next(one for one in ast.walk(source.tree) if isinstance(one, ast.Call))
    text = "(x * scale * levels) + stop(round(x * scale * levels) - (x * scale * levels))"
    assert with_a_name(source, call, text) == (
        "part + stop(round(part) - part)",
        {1: "part = x * scale * levels\n"},
    )


@pytest.mark.parametrize(
    ("text", "is_number"),
    [
        ("def f(x, n=30):\n    return n\n", True),
        ("N = -2.5\ndef f(x):\n    return N\n", True),
        ("def f(x, n):\n    return n\n", False),
        ("N = 1.0\nfor k in range(3):\n    N = N * x\ndef f(x):\n    return N\n", False),
        ("n = tf.constant(2.0)\ndef f(x):\n    return n\n", False),
        ("def f(x, n=None):\n    return n\n", False),
    ],
)
def test_a_name_that_only_stands_for_a_written_number_is_known(text: str, is_number: bool) -> None:
    source = _source(text)
    returned = next(one for one in ast.walk(source.tree) if isinstance(one, ast.Return)).value
    assert isinstance(returned, ast.Name) and source.is_number(returned) is is_number


def test_short_words_are_repeated() -> None:
    source = _source("y = g(x)\n")
    call = next(one for one in ast.walk(source.tree) if isinstance(one, ast.Call))
    assert with_a_name(source, call, "f(-x) + f(-x)") == ("f(-x) + f(-x)", {})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import math\n\nimport torch\ny = math.exp(x)\n", "import torch\ny = torch.exp(x)\n"),
        ("import torch\nimport math\n\ny = math.exp(x)\n", "import torch\n\ny = torch.exp(x)\n"),
    ],
)
def test_an_import_that_goes_leaves_no_hole(before: str, after: str) -> None:
    source = _source(before)
    made = diff(source, before.replace("math.exp", "torch.exp").splitlines(keepends=True), "f.py", context=9)
    lines = [line[1:] for line in made.splitlines(keepends=True)[3:] if line[0] in " +"]
    assert "".join(lines) == after


def test_a_guard_of_a_long_argument_is_two_lines(tmp_path: Path) -> None:
    script = (
        "import numpy as np\nimport gradproof as gp\nx = gp.Variable(np.array([[0.0, 0.0], [1.0, 0.5]]))\n"
        "def lengths(points):\n    diff = points[:, None, :] - points[None, :, :]\n"
        "    return np.sqrt(np.sum(diff ** 2, axis=-1))\n"
        "with gp.GradientTape() as tape:\n    loss = np.sum(np.exp(-lengths(x)))\nprint(tape.gradient(loss, x))\n"
    )
    _, made, after = patched(script, tmp_path)
    assert changed(made) == [
        "-return np.sqrt(np.sum(diff ** 2, axis=-1))",
        "+part = np.sum(diff ** 2, axis=-1)",
        "+return np.where(part > 0, np.sqrt(np.where(part > 0, part, 1.0)), 0.0)",
    ]
    assert after.level != "error"


@pytest.mark.parametrize(
    ("template", "text", "expected"),
    [
        ("{x} + y", "a / b + c", "a / b + c + y"),
        ("y - {x}", "a / b", "y - a / b"),
        ("y - {x}", "a + b", "y - (a + b)"),
        ("{x} + y", "a if b else c", "(a if b else c) + y"),
    ],
)
def test_parentheses_stand_only_where_they_are_read(template: str, text: str, expected: str) -> None:
    assert placed(template, text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "np.floor(x/step + 0.5) * step",
            [
                "part = x/step + 0.5",
                "return np.sum((part + gradproof.stop_gradient(np.floor(part) - part)) * step)",
            ],
        ),
        ("np.round(x)", ["return np.sum(x + gradproof.stop_gradient(np.round(x) - x))"]),
    ],
)
def test_a_step_with_a_straight_slope_computes_its_argument_once(line: str, expected: list[str]) -> None:
    source = f"import numpy as np\nimport gradproof\n\ndef f(x):\n    step = 0.1\n    return np.sum({line})\n"
    (gradient,) = checked(source, np.array([0.33, -0.71]), name=f"<{line}>").gradients
    others = [one for each in gradient.diagnostics if each.fix for one in each.fix.others]
    added = [
        [line[1:].strip() for line in one.patch.splitlines() if line[0] == "+" and line[:3] != "+++"]
        for one in others
    ]
    assert expected in added


@pytest.mark.parametrize(("function", "expected"), [("F.softmax", False), ("np.sum", False), ("x.sum", True)])
def test_what_a_file_has_imported_has_no_methods(function: str, expected: bool) -> None:
    source = _source("import torch.nn.functional as F\nimport numpy as np\n")
    assert is_method(source, syntax.expression(function)) is expected
