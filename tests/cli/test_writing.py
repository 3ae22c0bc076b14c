"""Reports are written whole or not at all, and a run whose report is lost does not end as if it were there."""

from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradproof.cli import apply, writing
from gradproof.cli.main import main
from gradproof.cli.writing import write_whole
from gradproof.errors import NotWritten
from gradproof.render.to_json import to_json
from tests.cli.running import FAULTY, RIGHT, gradproof, interruptible, run
from tests.render.reports import RICH

needs_full = pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="a device that is always full is needed"
)


def test_a_file_is_replaced_and_keeps_its_rights_and_its_links(tmp_path: Path) -> None:
    old, link = tmp_path / "old.json", tmp_path / "link.json"
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to(old)
    write_whole("new", str(link))
    assert link.is_symlink()
    assert old.read_text() == "new"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link.json", "old.json"]


def test_a_new_file_has_the_rights_that_the_mask_leaves(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_whole("text", str(tmp_path / "report"))
    assert (tmp_path / "report").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_halfway_leaves_the_older_report_and_nothing_else(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    (tmp_path / "report").write_text("old")
    monkeypatch.setattr(writing.os, step, fail)
    with pytest.raises((NotWritten, KeyboardInterrupt)):
        write_whole("new", str(tmp_path / "report"))
    assert (tmp_path / "report").read_text() == "old"
    assert os.listdir(tmp_path) == ["report"]


def test_the_text_is_on_the_disk_before_it_takes_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(writing.os, "fsync", lambda handle: (done.append("fsync"), fsync(handle)))
    monkeypatch.setattr(writing.os, "replace", lambda *paths: (done.append("replace"), replace(*paths)))
    write_whole("text", str(tmp_path / "report"))
    assert done == ["fsync", "replace"]


def test_halves_of_characters_are_written_as_a_sign(tmp_path: Path) -> None:
    write_whole("a\ud800b\udcff", str(tmp_path / "report"))
    assert (tmp_path / "report").read_text() == "a?b?"


LIMITED = """\
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
from gradproof.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_where_the_disk_takes_no_more_the_status_is_2_and_the_older_report_stays(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(RIGHT)
    (tmp_path / "report.json").write_text("old")
    words = ["run", "--json", "report.json", "--junit", "j.xml", "script.py"]
    done = run([sys.executable, "-B", "-c", LIMITED, *words], tmp_path)
    assert done.returncode == 2
    assert "`" + str(tmp_path / "report.json") + "` could not be written: File too large" in done.stderr
    assert "3 gradients correct" in done.stderr
    assert "\nwritten:" not in done.stderr
    assert (tmp_path / "report.json").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["report.json", "script.py"]


@needs_full
def test_a_full_device_is_told_and_the_status_is_2(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(RIGHT)
    done = gradproof(tmp_path, "run", "--json", "/dev/full", "script.py")
    assert (done.returncode, done.stdout) == (2, "[2.71828183 7.3890561 ]\n")
    assert "`/dev/full` could not be written: No space left on device" in done.stderr
    assert "3 gradients correct" in done.stderr


@needs_full
@pytest.mark.parametrize(
    "words",
    [["explain"], ["schema"], ["doctor"], ["tour", "--list"], ["check", "f.py:f", "--at", "1"]],
)
def test_an_output_that_is_full_is_one_sentence_and_the_status_2(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def f(x):\n    return x * x\n")
    with (
        open("/dev/full", "w") as full,
        interruptible([sys.executable, "-m", "gradproof", *words], tmp_path, stdout=full) as process,
    ):
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    [line] = errors.splitlines()
    assert line.startswith("gradproof: error: ")
    assert line.endswith("No space left on device")


@needs_full
def test_a_report_of_a_run_that_nobody_could_read_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(RIGHT)
    with (
        open("/dev/full", "w") as full,
        interruptible(
            [sys.executable, "-m", "gradproof", "run", "script.py"], tmp_path, stderr=full
        ) as process,
    ):
        output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (2, "[2.71828183 7.3890561 ]\n")


def test_the_files_that_were_written_are_named(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY)
    words = ["run", "--json", "report.json", "--html", "page.html", "script.py"]
    assert gradproof(tmp_path, *words).stderr.endswith("\nwritten: report.json, page.html\n")
    assert "written" not in gradproof(tmp_path, "run", "--quiet", *words[1:]).stderr
    done = gradproof(tmp_path, "render", "report.json", "--sarif", "s.sarif")
    assert (done.stdout, done.stderr) == ("", "written: s.sarif\n")


def test_two_reports_in_one_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(RIGHT)
    done = gradproof(tmp_path, "run", "--json", "r", "--html", "./r", "script.py")
    assert done.returncode == 2
    assert "two reports cannot both be written" in done.stderr


def test_without_memory_for_a_form_the_others_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def lack(*_: object) -> str:
        raise MemoryError

    monkeypatch.setattr("gradproof.cli.output.to_sarif", lack)
    saved = tmp_path / "saved.json"
    saved.write_text(to_json(RICH), encoding="utf-8")
    assert main(["render", str(saved), "--sarif", str(tmp_path / "s"), "--junit", str(tmp_path / "j")]) == 2
    assert sorted(os.listdir(tmp_path)) == ["j", "saved.json"]


def test_a_program_is_reached_by_ctrl_c_though_the_tests_ignore_it(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        words = [sys.executable, "-c", "import signal; print(signal.getsignal(signal.SIGINT))"]
        with interruptible(words, tmp_path) as process:
            output, _ = process.communicate(timeout=60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert "default_int_handler" in output


def test_every_program_of_the_tests_ends_with_its_test() -> None:
    """`subprocess.run` kills what it waits for when the time of a test is over; a bare `Popen` waits on."""
    here = Path(__file__).parents[1]
    starters = {
        str(path.relative_to(here)) for path in here.rglob("*.py") if ".Po" + "pen(" in path.read_text()
    }
    assert starters == {"cli/running.py"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_a_file_that_is_mended_end_as_they_did(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.write_bytes(f"x = 1{end}y = 2{end}".encode())
    monkeypatch.setattr(apply, "patched_texts", lambda report: {"script.py": "x = 1\ny = 3\n"})
    monkeypatch.setattr(apply, "fixes_by_file", lambda report: {"script.py": 1})
    seen = SimpleNamespace(sources={"script.py": "x = 1\ny = 2\n"})
    assert apply.apply_fixes(seen, str(tmp_path))  # type: ignore[arg-type]
    assert script.read_bytes() == f"x = 1{end}y = 3{end}".encode()
