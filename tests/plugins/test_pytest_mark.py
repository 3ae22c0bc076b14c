"""What the marker takes, what it refuses, and what it accepts."""

from __future__ import annotations

import gc
from dataclasses import replace

import hypothesis  # noqa: F401  # loaded here once for all, as the causes below
import pytest

from gradproof.causes import causes
from gradproof.options import TOLERANCES, Options
from gradproof.plugins.pytest_mark import Wishes, unmet, wishes_of
from tests.render.reports import CORRECT, INACCURATE, UNDEFINED

pytest_plugins = ["pytester"]

causes()  # loaded here once for all: pytester forgets what is first imported within a test

ERROR, WARNING = 2, 1


@pytest.fixture(autouse=True, scope="module")
def _little_to_collect() -> None:
    """Every configuration that pytester makes ends with five collections of garbage, in all that was left by others."""
    gc.freeze()


def marked(pytester: pytest.Pytester, arguments: str, around: str = "") -> pytest.Item:
    outer = f"pytestmark = pytest.mark.gradproof({around})" if around else ""
    return pytester.getitem(
        f"import pytest\n{outer}\n@pytest.mark.gradproof({arguments})\ndef test_func():\n    pass\n"
    )


def test_the_marker_of_the_test_itself_comes_before_that_of_its_module(pytester: pytest.Pytester) -> None:
    item = marked(pytester, "accept='kink', fail_on='warning'", "fail_on='never', off=True, reason='known'")
    assert wishes_of(item) == Wishes(frozenset({"kink"}), "known", None, "warning", True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("accept=['kinks']", "accepts `kinks`, which is no cause"),
        ("tolerance=-1", "takes a positive tolerance, or one for each dtype in a dict; it was -1"),
        ("tolerance={'int8': 1.0}", "takes a positive tolerance, or one for each dtype in a dict"),
        ("fail_on='all'", "takes fail_on=error, warning or never, not 'all'"),
        ("strict=True", "has no argument `strict`; there are accept, reason, tolerance, fail_on and off"),
        ("'kink'", "takes keywords only"),
    ],
)
def test_what_is_not_understood_is_an_error_that_names_the_test(
    pytester: pytest.Pytester, arguments: str, words: str
) -> None:
    with pytest.raises(pytest.UsageError, match="test_func: the marker `gradproof` ") as caught:
        wishes_of(marked(pytester, arguments))
    assert words in str(caught.value)


def test_a_tolerance_is_for_all_dtypes_or_for_those_named() -> None:
    assert set(Wishes(tolerance=1e-12).options(Options()).tolerances.values()) == {1e-12}
    named = Wishes(tolerance={"float32": 1e-5}).options(Options())
    assert named.tolerances == {**TOLERANCES, "float32": 1e-5}
    assert Wishes().options(Options()).tolerances == TOLERANCES


def test_a_gradient_is_accepted_by_all_its_causes_or_by_its_verdict() -> None:
    [kind] = {diagnostic.kind for diagnostic in INACCURATE.diagnostics if diagnostic.rank == ERROR}
    assert Wishes(frozenset({kind})).accepts(INACCURATE, ERROR)
    assert Wishes(frozenset({"inaccurate"})).accepts(INACCURATE, ERROR)
    assert Wishes(True).accepts(INACCURATE, ERROR)
    assert not Wishes(frozenset({"kink", "wrong"})).accepts(INACCURATE, ERROR)
    assert not Wishes().accepts(INACCURATE, ERROR)


def test_only_what_fails_a_test_has_to_be_accepted() -> None:
    extra = replace(INACCURATE.diagnostics[0], kind="vanishing", severity="warning")
    both = replace(INACCURATE, diagnostics=(*INACCURATE.diagnostics, extra))
    wishes = Wishes(frozenset(diagnostic.kind for diagnostic in INACCURATE.diagnostics))
    assert wishes.accepts(both, ERROR)
    assert not wishes.accepts(both, WARNING)


def test_what_is_accepted_and_did_not_occur_is_known() -> None:
    assert unmet(Wishes(frozenset({"kink", "inaccurate"})), [INACCURATE]) == ["`kink`"]
    assert unmet(Wishes(frozenset({"kink"})), [UNDEFINED]) == []
    assert unmet(Wishes(True), [CORRECT]) == ["what is wrong with its gradients"]
    assert unmet(Wishes(True), [replace(INACCURATE, intended=True)]) == []
    assert unmet(Wishes(), []) == []
