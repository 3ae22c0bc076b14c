"""Scripts like those that people ask about, each audited whole: the verdicts that its last line names, and the causes
that its lines are marked with (`# ~ kind`), no more and no fewer."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path

import jax
import pytest

from gradproof.audit.session import Session
from gradproof.diagnosis.report import Script

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
MARK = re.compile(r"# ~ ([a-z, -]+)$")
VERDICTS = re.compile(r"# verdicts: ([a-z, ]+)$")


def expected(text: str) -> tuple[list[str], set[tuple[str, int]]]:
    lines = text.splitlines()
    marked = ((number, MARK.search(line)) for number, line in enumerate(lines, 1))
    causes = {(kind.strip(), number) for number, mark in marked if mark for kind in mark[1].split(",")}
    found = VERDICTS.match(lines[-1])
    assert found is not None
    return found[1].split(", "), causes


def audited(path: Path) -> Session:
    session, error = Session(), None
    session.start()
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(
                compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True),
                {"__name__": "__main__"},
            )
    except Exception as raised:  # some of them end with an exception, which is what they are about
        error = raised
    finally:
        session.conclude(error)
        session.stop()
        jax.config.update("jax_enable_x64", False)
        jax.config.update("jax_debug_nans", False)
    return session


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_judged_as_it_says(path):
    session = audited(path)
    gradients = session.report(Script(path.name)).gradients
    found = {
        (one.kind, 0 if one.span is None else one.span.line)
        for gradient in gradients
        for one in gradient.diagnostics
        if one.severity != "note"
    }
    verdicts, causes = expected(path.read_text(encoding="utf-8"))
    assert session.faults == []
    assert [fault for gradient in gradients for fault in gradient.faults] == []
    assert ([gradient.verdict.value for gradient in gradients], found) == (verdicts, causes)


def test_no_error_stands_at_a_gradient_that_is_correct():
    for path in SCRIPTS[::6]:
        for gradient in audited(path).report(Script(path.name)).gradients:
            errors = [one.kind for one in gradient.diagnostics if one.severity == "error"]
            assert gradient.verdict.value != "correct" or errors == [], path.name


def test_there_are_many_of_them():
    assert len(SCRIPTS) >= 110
