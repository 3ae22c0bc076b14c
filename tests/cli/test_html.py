"""`--html`: a page beside the report on the screen."""

from pathlib import Path

from tests.cli.running import FAULTY, gradproof


def test_a_run_writes_the_page_with_the_source_and_the_cause(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY)
    done = gradproof(tmp_path, "run", "--html", "report.html", "script.py")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert done.returncode == 1
    assert page.startswith("<!DOCTYPE html>")
    assert "error[cancellation]" in page
    assert "(y - np.float32(1e10)) ** 2" in done.stderr
    assert str(tmp_path) not in page


def test_a_check_writes_the_page(tmp_path: Path) -> None:
    (tmp_path / "losses.py").write_text("def square(x):\n    return x**2\n")
    done = gradproof(tmp_path, "check", "losses.py:square", "--at", "3.0", "--html", "report.html")
    assert done.returncode == 0
    assert "1 gradient correct, proven; nothing to fix." in (tmp_path / "report.html").read_text(
        encoding="utf-8"
    )


def test_a_page_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('ran')\n")
    done = gradproof(tmp_path, "run", "--html", "none/report.html", "script.py")
    assert done.returncode == 2
    assert "there is no folder" in done.stderr
    assert "ran" not in done.stdout
