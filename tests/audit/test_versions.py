"""Versions of frameworks: the one that everything was tried with, and others."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from gradproof.audit.versions import installed_version, version_notes
from gradproof.frameworks import all_frameworks
from gradproof.frontends.select import SUPPORTED


def test_another_version_is_told_and_the_right_one_is_not() -> None:
    for version in ("2.18.1", "2.19.0", "2.20.0", "2.21.0"):
        assert version_notes({"tensorflow": version, "numpy": "2.0.0", "keras": "3.1"}) == []
    assert version_notes({"jax": "0.10.2"}) == []
    assert len(version_notes({"jax": "0.10.1", "torch": "2.12.0", "tensorflow": "2.2.0"})) == 3
    [note] = version_notes({"tensorflow": "2.17.1"})
    assert note.startswith("TensorFlow 2.17.1 is another version than gradproof is made for, 2.18 to 2.21: ")


@pytest.mark.parametrize("name", [one.name for one in all_frameworks() if one.made_for])
def test_the_version_is_the_one_that_is_declared_and_installed_here(name: str) -> None:
    [known] = [one for one in all_frameworks() if one.name == name]
    assert SUPPORTED[name].endswith(f"made for {known.served}")
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert re.search(rf"[>=]=({re.escape(known.made_for[0])})\b", project["optional-dependencies"][name][0])
    installed = installed_version(name)
    if installed is None:
        pytest.skip(f"{name} is not installed")
    assert version_notes({name: installed}) == []
