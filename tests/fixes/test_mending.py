"""Faulty scripts are mended as a whole: the patched script has no fault left, and no claim of a fix is false."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.fixes.faulty import CLEAN, HEADS, SCRIPTS, UNMENDED
from tests.fixes.mending import mend

pytestmark = pytest.mark.timeout(300)


def _script(key: tuple[str, str]) -> object:
    framework = key[0]
    missing = importlib.util.find_spec(framework) is None
    marks = [pytest.mark.skipif(missing, reason=f"{framework} is not installed")]
    marks += [getattr(pytest.mark, framework)] if framework in ("tensorflow", "torch") else []
    return pytest.param(key, id="-".join(key), marks=marks)


@pytest.mark.parametrize("key", [_script(key) for key in SCRIPTS])
def test_a_faulty_script_is_mended(
    key: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = mend(SCRIPTS[key], tmp_path, monkeypatch)
    assert not found.is_false, found.diff
    expected = "clean" if key in CLEAN else "no patch" if key in UNMENDED else "mended"
    assert found.kind == expected, f"{found.kinds}\n{found.diff}"


def test_most_are_mended_in_every_framework() -> None:
    for framework in HEADS:
        faulty = [key for key in SCRIPTS if key[0] == framework and key not in CLEAN]
        assert len([key for key in faulty if key not in UNMENDED]) >= 0.8 * len(faulty)
