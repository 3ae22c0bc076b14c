"""What a machine wrote reads as if a person had."""

from __future__ import annotations

import ast

import pytest

from gradproof.fixes.edit import replaced
from gradproof.fixes.source import parsed
from gradproof.fixes.tidy import with_factor_ahead, with_local_names, with_plain_choices, without_double_signs
from gradproof.ir import syntax


def _text(tree: ast.expr) -> str:
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize(
    ("text", "tidy"),
    {
        "--x": "x",
        "-(-x @ w)": "x @ w",
        "f(0.0, --(-x @ w))": "f(0.0, -(x @ w))",
        "a - -(-b * c)": "a - b * c",
        "-(a + b)": "-(a + b)",
        "-x * y": "-x * y",
    }.items(),
)
def test_no_sign_undoes_another(text: str, tidy: str) -> None:
    assert _text(without_double_signs(syntax.expression(text))) == tidy


@pytest.mark.parametrize(
    ("text", "tidy"),
    {
        "g * a + g * b * c": "g * (a + b * c)",
        "g - g * x": "g * (1 - x)",
        "g * a + g * b + g": "g * (a + b + 1)",
        "g * a - h * b": "g * a - h * b",
        "a / g + b / g": "a / g + b / g",
    }.items(),
)
def test_a_factor_of_all_terms_is_said_once(text: str, tidy: str) -> None:
    assert _text(with_factor_ahead(syntax.expression(text))) == tidy


@pytest.mark.parametrize(
    ("text", "tidy"),
    {
        "np.where(x <= 6, np.where(np.where(x <= 6, x, 6.0) >= 0, up, 0.0), 0.0)": (
            "np.where((x <= 6) & (x >= 0), up, 0.0)"
        ),
        "np.where(x > 0, 1.0, np.where(x > 0, y, z))": "np.where(x > 0, 1.0, z)",
        "np.where(x > 0, np.where(y > 0, a, 1.0), 0.0)": "np.where(x > 0, np.where(y > 0, a, 1.0), 0.0)",
    }.items(),
)
def test_no_selection_asks_what_is_known(text: str, tidy: str) -> None:
    assert _text(with_plain_choices(syntax.expression(text))) == tidy


@pytest.mark.parametrize("change", ["s.mul_(2)", "s[0] = 1.0", "s *= 2"])
def test_a_name_whose_value_is_changed_is_not_used(change: str) -> None:
    source = parsed(f"def f(x, up):\n    s = sig(x)\n    {change}\n    return up * s\n")
    assert source is not None
    place = next(one.value for one in ast.walk(source.tree) if isinstance(one, ast.Return))
    assert place is not None
    assert with_local_names(source, place, "sig(x)") == "sig(x)"


def test_names_of_the_function_are_used_where_they_still_mean_that() -> None:
    source = parsed(
        "def f(x, up):\n    s = sig(x)\n    t = sig(up)\n    up = 2 * up\n    return up * s\n    u = sig(-x)\n"
    )
    assert source is not None
    place = next(one.value for one in ast.walk(source.tree) if isinstance(one, ast.Return))
    assert place is not None
    assert with_local_names(source, place, "sig(x) + sig(up) + sig(-x)") == "s + sig(up) + sig(-x)"


@pytest.mark.parametrize(
    ("before", "after"),
    {
        "y = a / (x * y)": "y = a / f(1)",
        "y = g((x * y))": "y = g(f(1))",
        "y = g(x * y)": "y = g(f(1))",
        "y = not(x * y)": "y = not(f(1))",
        "y = not (x * y)": "y = not f(1)",
        "y = h[0](x * y)": "y = h[0](f(1))",
    }.items(),
)
def test_a_call_has_no_parentheses_around_it_but_those_of_a_call(before: str, after: str) -> None:
    source = parsed(f"{before}\n")
    assert source is not None
    product = next(one for one in ast.walk(source.tree) if ast.unparse(one) == "x * y")
    assert isinstance(product, ast.expr)
    changed = replaced(source, [(product, "f(1)")], "script.py")
    assert [line[1:] for line in changed.splitlines() if line.startswith("+y")] == [after]


def test_a_statement_or_several_arguments_may_take_the_place_of_an_expression() -> None:
    source = parsed("h.mul_(3)\ny = f(x)\n")
    assert source is not None
    parts = {ast.unparse(one): one for one in ast.walk(source.tree) if isinstance(one, ast.expr)}
    call, use = parts["h.mul_(3)"], parts["x"]
    assert "+h = h.mul(3)" in replaced(source, [(call, "h = h.mul(3)")], "script.py")
    assert "+y = f(x, a=1)" in replaced(source, [(use, "x, a=1")], "script.py")
