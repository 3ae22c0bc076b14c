"""`gradproof render`: a saved report gives what the run itself would have given; anything else one clear line."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradproof.cli import render
from gradproof.cli.main import main
from gradproof.render.from_json import from_json
from gradproof.render.to_diff import to_diff
from gradproof.render.to_json import to_json
from gradproof.render.to_junit import to_junit
from gradproof.render.to_sarif import to_sarif
from gradproof.render.to_text import to_text
from tests.cli.running import FAULTY, gradproof
from tests.render.reports import RICH

# A Python in which no framework can be imported.
BARE = """\
import sys
for name in ("tensorflow", "keras", "jax", "torch"):
    sys.modules[name] = None
from gradproof.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = tmp_path / "report.json"
    path.write_text(to_json(RICH), encoding="utf-8")
    return str(path)


def test_the_text_is_printed_unless_something_else_is_asked_for(
    saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", saved]) == 0
    assert capsys.readouterr().out == to_text(RICH)
    assert main(["render", saved, "--concise"]) == 0
    assert capsys.readouterr().out == to_text(RICH, detail="concise")
    junit = str(tmp_path / "j.xml")
    assert main(["render", saved, "--junit", junit]) == 0
    assert capsys.readouterr().out == ""
    assert main(["render", saved, "--junit", junit, "--text"]) == 0
    assert capsys.readouterr().out == to_text(RICH)


def test_each_form_is_the_one_of_the_report_itself(saved: str, tmp_path: Path) -> None:
    # Of an array that was summarised, the JSON of a saved report has no more than its table of entries.
    again = to_json(from_json(to_json(RICH)))
    forms = {"sarif": to_sarif(RICH), "junit": to_junit(RICH), "json": again, "fix": to_diff(RICH)}
    words = [word for form in forms for word in (f"--{form}", str(tmp_path / form))]
    assert main(["render", saved, *words]) == 0
    for form, text in forms.items():
        assert (tmp_path / form).read_text(encoding="utf-8") == text, form


def test_the_page_of_a_saved_report_has_its_faults(saved: str, tmp_path: Path) -> None:
    assert main(["render", saved, "--html", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    for kind in ("cancellation", "custom-gradient", "masked-branch", "not-watched"):
        assert kind in page


def test_a_report_of_a_run_is_rendered_where_no_framework_is(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FAULTY)
    gradproof(tmp_path, "run", "--json", "r.json", "--sarif", "run.sarif", "--junit", "run.xml", "script.py")
    command = [
        sys.executable,
        "-c",
        BARE,
        "render",
        "-",
        "--sarif",
        "later.sarif",
        "--junit",
        "later.xml",
        "--text",
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        input=(tmp_path / "r.json").read_text(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "written: later.sarif, later.xml\n")
    assert "error[cancellation]" in done.stdout
    for form in ("sarif", "xml"):
        assert (tmp_path / f"later.{form}").read_text() == (tmp_path / f"run.{form}").read_text()


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["render", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    assert line.startswith("gradproof: error: ")
    return line


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "no JSON at line 1, column 1"),
        (b"\x89PNG\r\n\x1a\n\xff", "not text in UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"schema": 2}', "format version 2; this gradproof reads up to 1"),
        (b'{"hello": "world"}', "lacks the field"),
        (b'{"schema": 1, "\x1b[2J": 1}', "not a gradproof report"),
        (to_json(RICH).encode()[:5000], "no JSON at line"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(
    content: bytes, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    line = refused([str(path)], capsys)
    assert complaint in line
    assert "broken.json` cannot be read" in line
    assert "\x1b" not in line


def test_what_cannot_be_opened_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No such file" in refused([str(tmp_path / "none.json")], capsys)
    assert "Is a directory" in refused([str(tmp_path)], capsys)
    assert "null byte" in refused(["a\0b"], capsys)


def test_a_report_that_is_too_large_is_refused_before_it_is_parsed(
    saved: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "MOST_BYTES", 1 << 10)
    assert "larger than" in refused([saved], capsys)


def test_the_standard_input_is_read_like_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    assert "the standard input cannot be read: not a gradproof report" in refused(["-"], capsys)


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_read(
    saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "there is no folder" in refused([saved, "--sarif", str(tmp_path / "none" / "s.sarif")], capsys)


def test_faults_in_the_report_do_not_fail_the_rendering(saved: str) -> None:
    assert json.loads(Path(saved).read_text())["gradients"]
    assert main(["render", saved, "--quiet"]) == 0
