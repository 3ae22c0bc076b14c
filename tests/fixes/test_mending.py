"""Fixes as a whole: the patched script has no fault left, and no claim of a fix is false."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

from gradproof.fixes.kinds import kinds
from tests.fixes.faulty import FAMILIES, HEADS, SCRIPTS, SHOWN, UNMENDED, FaultyScript
from tests.fixes.mending import mend

pytestmark = pytest.mark.timeout(300)


def _parameter(script: FaultyScript) -> object:
    missing = importlib.util.find_spec(script.framework) is None
    marks = [pytest.mark.skipif(missing, reason=f"{script.framework} is not installed")]
    marks += [getattr(pytest.mark, script.framework)] if script.framework in ("tensorflow", "torch") else []
    return pytest.param(
        script, id=script.id, marks=[*marks, *([pytest.mark.nightly] if script.is_nightly else [])]
    )


@pytest.mark.parametrize("script", [_parameter(script) for script in SCRIPTS])
def test_a_faulty_script_is_mended(
    script: FaultyScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = mend(script.text, tmp_path, monkeypatch)
    assert not found.is_false, found.diff
    expected = "no patch" if (script.framework, script.name) in UNMENDED else "mended"
    assert found.kind == expected, f"{found.kinds}\n{found.diff}"
    assert found.offered.issuperset(kind for kind, shown in SHOWN.items() if shown == script.id)


def test_there_are_many_scripts_in_every_framework_and_no_two_of_one_name() -> None:
    assert len(SCRIPTS) >= 120
    assert {script.family for script in SCRIPTS} == set(FAMILIES)
    assert {script.framework for script in SCRIPTS} == set(HEADS)
    assert max(Counter(script.id for script in SCRIPTS).values()) == 1


def test_the_gate_shows_every_kind_of_fix() -> None:
    assert SHOWN.keys() == {kind.name for kind in kinds()}
    assert set(SHOWN.values()) <= {script.id for script in SCRIPTS if not script.is_nightly}


def test_most_are_mended_in_every_framework() -> None:
    for framework in HEADS:
        names = [script.name for script in SCRIPTS if script.framework == framework]
        assert len([name for name in names if (framework, name) not in UNMENDED]) >= 0.8 * len(names)
