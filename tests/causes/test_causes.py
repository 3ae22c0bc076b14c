"""What holds for every cause: its documentation, its cases, and that it only reads."""

from __future__ import annotations

import copy
import importlib
import warnings

import pytest

from gradproof.audit.examine import cases
from gradproof.causes import causes, find_all
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.occasion import Occasion
from gradproof.frontends.select import attach_all
from gradproof.options import Options
from tests.audited import undeclared
from tests.causes.harness import CASES, ROLES, cause_of, role_of, scripts

# Causes whose cases are still to be written; the test below fails when one of them has them and is not taken out.
LACKING: frozenset[str] = frozenset()

NAMES = [cause.name for cause in causes()]


@pytest.mark.parametrize("cause", causes(), ids=NAMES)
def test_the_docstring_has_the_five_headings(cause: Cause) -> None:
    assert cause.documentation.title.endswith(".")


@pytest.mark.parametrize("cause", causes(), ids=NAMES)
def test_the_name_is_that_of_the_file(cause: Cause) -> None:
    assert importlib.import_module(f"gradproof.causes.{cause.name.replace('-', '_')}").CAUSE is cause


@pytest.mark.parametrize("cause", causes(), ids=NAMES)
def test_there_are_guilty_fixed_and_silent_cases(cause: Cause) -> None:
    roles = {role_of(path) for path in scripts() if cause_of(path) == cause.name}
    has_all = roles == set(ROLES)
    assert has_all != (cause.name in LACKING), f"cases of `{cause.name}`: {sorted(roles) or 'none'}"


def test_every_folder_of_cases_belongs_to_a_cause() -> None:
    folders = {path.name.replace("_", "-") for path in CASES.iterdir() if path.is_dir()}
    assert folders <= set(NAMES)


def _captured(source: str) -> list[Case]:
    """The cases of a small program on the tape."""
    found: list[Case] = []

    def receive(read, unread) -> None:  # type: ignore[no-untyped-def]
        del unread
        found.extend(case for capture in read() for case in cases(capture, Options()))

    attachments = attach_all(receive, lambda occurrence: True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "program.py", "exec"), {})
    finally:
        for attachment in attachments:
            attachment.remove()
    return found


def test_a_cause_that_speaks_where_it_does_not_say_so_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As every case is asked that is examined in a test (`conftest.py`)."""
    (case,) = _captured(
        "import numpy as np\nimport gradproof as gp\nx = gp.Variable(2.0)\n"
        "with gp.GradientTape() as tape:\n    y = np.sin(x)\ntape.gradient(y, x)\n"
    )
    told = Diagnostic("kink", "note", "proven", "planted")
    for on, noticed in (((Occasion.WRONG,), ["planted: planted"]), ((Occasion.CORRECT,), [])):
        planted = Cause("planted", lambda case: [told], "", on)
        monkeypatch.setattr("gradproof.causes.causes", lambda planted=planted: (planted,))
        assert undeclared(case) == noticed
        assert find_all(case) == (() if noticed else (told,))


PROGRAMS = {
    "masked": "np.sum(np.where(x > 1.0, np.log(x), 0.0))",
    "kink": "np.sum(np.abs(x))",
    "singular": "np.sum(np.sqrt(x))",
    "smooth": "np.sum(np.sin(x))",
    "discrete": "np.sum(np.floor(x + 0.5))",
}


@pytest.mark.parametrize("expression", PROGRAMS.values(), ids=PROGRAMS)
def test_causes_only_read_and_say_the_same_twice(expression: str) -> None:
    source = (
        "import numpy as np\nimport gradproof as gp\n"
        "x = gp.Variable(np.array([4.0, 0.0]))\n"
        f"with gp.GradientTape() as tape:\n    y = {expression}\n"
        "tape.gradient(y, x)\n"
    )
    for case in _captured(source):
        before = copy.copy(case.__dict__)
        first, second = find_all(case), find_all(case)
        assert first == second
        assert {k: v for k, v in case.__dict__.items() if k in before} == before
