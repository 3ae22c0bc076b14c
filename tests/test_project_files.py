"""What others find beside the code: it names things that are there, and its versions agree."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import gradproof

ROOT = Path(__file__).parent.parent


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == project["version"] == gradproof.__version__
    assert re.search(
        rf"^## {re.escape(project['version'])}$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )


def test_the_workflow_calls_the_gate_and_the_gate_what_users_install() -> None:
    assert "- run: .ci/run\n" in (ROOT / ".github/workflows/ci.yml").read_text()
    for script in ("installed", "versions"):
        assert f"\n.ci/{script}\n" in (ROOT / ".ci/run").read_text()
    for script in ("run", "installed", "versions"):
        assert os.access(ROOT / ".ci" / script, os.X_OK), script


def test_the_issue_template_asks_for_options_that_exist() -> None:
    template = (ROOT / ".github/ISSUE_TEMPLATE/not-true.yml").read_text()
    doctor = (ROOT / "src/gradproof/cli/doctor.py").read_text()
    for option in ("--report", "--with-data"):
        assert option in template
        assert f'"{option}"' in doctor


def test_every_dependency_has_a_lowest_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+", each) for each in project["dependencies"])


def test_hooks_before_a_commit_leave_out_what_the_project_leaves_out() -> None:
    """Hooks name every file, and ruff checks files that are named even where the project excludes them."""
    hooks = re.findall(r"entry: (ruff .+)", (ROOT / ".pre-commit-config.yaml").read_text())
    assert len(hooks) == 2
    assert all("--force-exclude" in each for each in hooks)
