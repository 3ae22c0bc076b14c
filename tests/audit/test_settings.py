"""`[tool.gradproof]` in pyproject.toml: found from below, understood or refused, and obeyed by a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradproof.audit.settings import Settings, find_settings
from gradproof.cli.main import main
from gradproof.errors import InvalidInput
from tests.cli.running import FAULTY, RIGHT, audited, gradproof


def settings(folder: Path, *lines: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text("\n".join(["[tool.gradproof]", *lines, ""]))
    return path


def test_the_nearest_table_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    path = settings(tmp_path, 'fail-on = "warning"', 'checks = "1,5"', "budget = 30", 'accept = ["kink"]')
    (tmp_path / "a" / "pyproject.toml").write_text(
        "[project]\nname = 'a'\n"
    )  # has nothing to say about gradproof
    assert find_settings(str(inner)) == Settings(str(path), "warning", "1,5", 30.0, ("kink",))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('fail_on = "error"', "has no setting `fail_on`; did you mean `fail-on`?"),
        ('fail-on = "sometimes"', "fail-on in [tool.gradproof] is one of error, warning, never"),
        ("checks = 5", "checks in [tool.gradproof] is `powers`"),
        ('budget = "long"', "budget in [tool.gradproof] is a number of seconds"),
        ("budget = -1", "is a number of seconds"),
        ('accept = ["knik"]', "names `knik`, which is no cause"),
        ('accept = "kink"', "is a list of texts"),
        ("exclude = [1]", "is a list of texts"),
        ("budget = ", "cannot be read"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(
    line: str,
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings(tmp_path, line)
    with pytest.raises(InvalidInput) as caught:
        find_settings(str(tmp_path))
    assert complaint in str(caught.value)
    assert "pyproject.toml" in str(caught.value)
    (tmp_path / "script.py").write_text("print('ran')")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "script.py"]) == 2
    assert "ran" not in capsys.readouterr().out


def test_a_run_obeys_and_the_command_line_comes_first(tmp_path: Path) -> None:
    settings(tmp_path, 'checks = "first"', "budget = 0", 'fail-on = "warning"')
    found = audited(tmp_path, RIGHT)
    assert [each["verdict"] for each in found["gradients"]] == ["unverified"]
    assert found["status"] == 1
    words = ["--checks", "all", "--budget", "100", "--fail-on", "error"]
    again = audited(tmp_path, RIGHT, *words)
    assert [each["verdict"] for each in again["gradients"]] == ["correct"] * 12
    assert again["status"] == 0


def test_what_is_accepted_is_intended(tmp_path: Path) -> None:
    settings(tmp_path, 'accept = ["kink"]')
    assert audited(tmp_path, FAULTY)["status"] == 1
    settings(tmp_path, 'accept = ["kink", "cancellation"]')
    found = audited(tmp_path, FAULTY)
    assert found["gradients"][0]["intended"]
    assert found["status"] == 0


def test_files_that_are_excluded_are_counted_and_not_checked(tmp_path: Path) -> None:
    settings(tmp_path, 'exclude = ["old", "gen_*.py"]')
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "model.py").write_text(FAULTY)
    found = audited(tmp_path, f"import runpy\nrunpy.run_path('old/model.py')\n{RIGHT}", "--checks", "first")
    assert [each["verdict"] for each in found["gradients"]] == ["correct"]
    excluded = [row for row in found["unchecked"] if "exclude" in row["reason"]]
    assert [(row["call"]["file"], row["count"]) for row in excluded] == [("old/model.py", 1)]
    assert found["status"] == 0


def test_the_doctor_shows_them(tmp_path: Path) -> None:
    path = settings(tmp_path, 'fail-on = "warning"', 'accept = ["kink", "jump"]')
    said = gradproof(tmp_path, "doctor").stdout
    assert f"\n\nsettings      [tool.gradproof] in {path}\n" in said
    assert "fail-on       warning\n" in said
    assert "accept        kink, jump\n" in said
