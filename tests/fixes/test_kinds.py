"""Kinds of fixes are discovered, say what they do, and serve causes that exist."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradproof.causes import names
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.fixes import choose
from gradproof.fixes.choose import with_offers
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.kinds import described, kinds, serving, slopes_by_differences, smooth_part
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict


def test_every_kind_serves_causes_that_exist_and_has_the_name_of_its_file() -> None:
    folder = Path(choose.__file__).parent / "kinds"
    files = {path.stem.replace("_", "-") for path in folder.glob("[a-z]*.py")}
    assert {kind.name for kind in kinds()} == files
    for kind in kinds():
        assert kind.serves and set(kind.serves) <= set(names()), kind.name


def test_what_is_read_about_kinds_is_what_they_are() -> None:
    for cause in names():
        assert [name for name, _ in described(cause)] == [kind.name for kind in serving(cause)]
        assert all(text for _, text in described(cause))


def _chosen(monkeypatch: pytest.MonkeyPatch, own: Fix | None, *offered: Fix) -> Fix | None:
    kind = FixKind("a", ("kink",), lambda fault: offered)
    monkeypatch.setattr(choose, "serving", lambda cause: (kind,))
    found = Diagnostic("kink", "warning", "proven", "a kink", fix=own)
    (chosen,) = with_offers(None, [found], None)  # type: ignore[arg-type]
    return chosen.fix


def test_what_was_run_comes_first_and_what_was_not_behind_the_cause_s_own_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = Fix("advice")
    run, idea = Fix("run", "-a\n+b", "seen"), Fix("idea", "-a\n+c")
    chosen = _chosen(monkeypatch, own, idea, run)
    assert chosen is not None and chosen.text == "run" and [one.text for one in chosen.others] == ["idea"]
    chosen = _chosen(monkeypatch, own, idea)
    assert chosen is not None and chosen.text == "advice" and chosen.others == (idea,)


def test_the_same_meaning_and_fewer_lines_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Fix("small", "-a\n+b", "seen")
    large, other = (
        replace(small, text="large", patch="-a\n-b\n+c\n+d"),
        replace(small, text="other", changes_meaning="x", patch="-a\n+z"),
    )
    chosen = _chosen(monkeypatch, Fix("advice"), other, large, small)
    assert chosen is not None
    assert [chosen.text, *(one.text for one in chosen.others)] == ["small", "large", "other"]


def test_of_two_ways_to_the_same_lines_the_one_that_was_run_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    idea, run = Fix("idea", "-a\n+b"), Fix("run", "-a\n+b", "seen")
    chosen = _chosen(monkeypatch, Fix("advice"), idea, run)
    assert chosen is not None and chosen.text == "run" and not chosen.others


def test_what_has_no_advice_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _chosen(monkeypatch, None, Fix("run", "-a\n+b", "seen")) is None


def test_a_fault_holds_what_a_kind_needs() -> None:
    assert Fault.__dataclass_fields__.keys() == {"case", "found", "replay"}


@pytest.mark.parametrize("cause", ["framework-rule", "singular-point"])
@pytest.mark.parametrize("verdict", [Verdict.NONFINITE, Verdict.UNDEFINED])
def test_no_slopes_by_differences_where_there_is_no_derivative(cause: str, verdict: Verdict) -> None:
    """Beside equal eigenvalues an eigenvector jumps; a difference would return numbers all the same."""
    text = "import jax.numpy as jnp\n\n\ndef f(c):\n    w, v = jnp.linalg.eigh(c)\n    return v[0, 0]\n"
    span = Span("user.py", 5, 11, 5, 29)
    source = SimpleNamespace(missing=None, shape=(2, 2), name="c")
    capture = SimpleNamespace(framework="jax", run=SimpleNamespace(order=1), program=None)
    case = SimpleNamespace(verdict=verdict, source=source, capture=capture, sources={"user.py": text})
    found = SimpleNamespace(span=span, kind=cause)
    offers = [
        one
        for each in (slopes_by_differences, smooth_part)
        for one in each.offer(Fault(case, found))  # type: ignore[arg-type]
    ]
    assert bool(offers) is (verdict is Verdict.NONFINITE)
