"""`gradproof run --fix`: a diff that mends the script, and a script that is left as it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.running import FAULTY, RIGHT, run

pytestmark = pytest.mark.timeout(240)


def _run(folder: Path, text: str) -> str:
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    run([sys.executable, "-m", "gradproof", "run", "--quiet", "--fix", "all.diff", "script.py"], folder)
    assert script.read_text(encoding="utf-8") == text
    return (folder / "all.diff").read_text(encoding="utf-8")


def test_the_diff_mends_the_script(tmp_path: Path) -> None:
    diff = _run(tmp_path, FAULTY)
    _, _, changes = diff.partition("\n--- a/script.py\n+++ b/script.py\n")
    old, new = ([line[1:] for line in changes.splitlines() if line[:1] == sign] for sign in "-+")
    mended = "\n".join(
        new[0] if line == old[-1] else line for line in FAULTY.split("\n") if line not in old[:-1]
    )
    assert "2e" in run([sys.executable, "-c", mended], tmp_path).stdout.replace("0000000000.0", "e10")


def test_nothing_to_mend_leaves_an_empty_diff(tmp_path: Path) -> None:
    assert _run(tmp_path, RIGHT) == ""


def test_how_many_there_are_is_said_and_how_to_get_them(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY, encoding="utf-8")
    start = [sys.executable, "-m", "gradproof", "run"]
    without = run([*start, "script.py"], tmp_path).stderr.splitlines()
    assert without[-1] == (
        "1 fixable with --fix; to accept what is meant, end its line with `# gradproof: ignore[cancellation]`"
    )
    done = run([*start, "--fix", "all.diff", "script.py"], tmp_path).stderr
    assert "fixable" not in done
    assert done.endswith("\nwritten: all.diff (1 fix)\n")
    (tmp_path / "script.py").write_text(RIGHT, encoding="utf-8")
    assert run([*start, "script.py"], tmp_path).stderr.endswith("; nothing to fix\n")


def test_the_diff_is_printed_when_asked(tmp_path: Path) -> None:
    diff = _run(tmp_path, FAULTY)
    done = run([sys.executable, "-m", "gradproof", "run", "--fix", "--diff", "script.py"], tmp_path)
    alone = run([sys.executable, "-m", "gradproof", "run", "--fix", "script.py"], tmp_path)
    assert done.stdout.endswith(diff) and alone.stdout == done.stdout
    assert alone.stderr.endswith("printed: a diff (1 fix); --fix --apply changes the files\n")
    assert "written" not in done.stderr
    assert "fixable" not in done.stderr
    of_module = run([sys.executable, "-m", "gradproof", "run", "--fix", "--diff", "-m", "script"], tmp_path)
    assert of_module.stdout.endswith(diff)


def test_the_files_are_changed_when_asked_and_kept(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(FAULTY, encoding="utf-8")
    (tmp_path / "script.py.orig").write_text("mine", encoding="utf-8")
    done = run([sys.executable, "-m", "gradproof", "run", "--fix", "--apply", "script.py"], tmp_path)
    assert "changed: script.py (1 fix; as it was: script.py.orig2)" in done.stderr
    assert (tmp_path / "script.py.orig").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "script.py.orig2").read_text(encoding="utf-8") == FAULTY
    assert script.read_text(encoding="utf-8") != FAULTY
    again = run([sys.executable, "-m", "gradproof", "run", "script.py"], tmp_path)
    assert "nothing to fix" in again.stderr


def test_what_comes_after_the_script_is_the_scripts_own(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(f"{FAULTY}import sys\nprint(sys.argv[1:])\n", encoding="utf-8")
    start = [sys.executable, "-m", "gradproof", "run", "--no-fix"]
    for words in (["--fix"], ["--fix", "all.patch", "--quiet"]):
        done = run([*start, *words, "script.py", "--fix", "its.diff", "--diff"], tmp_path)
        assert done.stdout.endswith("['--fix', 'its.diff', '--diff']\n"), done.stderr
    assert (tmp_path / "all.patch").exists() and not (tmp_path / "its.diff").exists()


def test_fixes_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY, encoding="utf-8")
    start = [sys.executable, "-m", "gradproof", "run"]
    done = run([*start, "--no-fix", "script.py"], tmp_path)
    assert "error[" in done.stderr and "fixable" not in done.stderr
