"""`gradproof tour` from the outside: the walk through all examples, the list, copies, misuse."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from gradproof.cli.main import main
from gradproof.cli.tour import read_examples
from tests.cli.running import interruptible

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = read_examples(FOLDER)
# Python does not find a module whose place among the imported ones is taken by None.
WITHOUT_FRAMEWORKS = (
    "import sys; sys.modules.update(dict.fromkeys(['tensorflow', 'torch', 'jax'])); "
    "from gradproof.cli.main import main; sys.exit(main())"
)


def _tour(*words: str, code: str | None = None) -> tuple[int, str]:
    start = ["-m", "gradproof"] if code is None else ["-c", code]
    done = subprocess.run(
        [sys.executable, *start, "tour", *words],
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_the_whole_tour_runs_and_skips_with_a_sentence_what_needs_a_framework() -> None:
    status, text = _tour(code=WITHOUT_FRAMEWORKS)
    assert status == 0
    for title in ("TensorFlow", "PyTorch", "JAX"):
        needed = sum(one.needs is not None and one.needs.title == title for one in EXAMPLES)
        assert needed and text.count(f"skipped: it needs {title}, ") == needed
    headings = [f"{number:>2}  {one.name}: {one.title}" for number, one in enumerate(EXAMPLES, 1)]
    assert [line for line in text.splitlines() if line in headings] == headings
    assert text.count("\ngradproof: ") == sum(one.needs is None for one in EXAMPLES)


def test_a_chapter_shows_lesson_source_output_and_report_in_this_order() -> None:
    status, text = _tour("kink")
    assert status == 0
    parts = (
        "12  kink: At a kink",
        "The report gives the slopes of both sides",
        "16 |     loss = np.sum(np.abs(",
        "$ gradproof run examples/kink.py",
        "gradient [-1.  0.  1.]",
        "warning[kink]",
        "--> examples/kink.py:16:19",
    )
    places = [text.replace("\n", " ").find(part) for part in parts]
    assert -1 not in places and places == sorted(places)


@pytest.mark.tensorflow
@pytest.mark.skipif(find_spec("tensorflow") is None, reason="TensorFlow is not installed")
def test_an_example_with_tensorflow_is_run() -> None:
    status, text = _tour("2")
    assert status == 0
    assert "error[not-watched]" in text


def test_the_list_names_every_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tour", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(EXAMPLES)


def test_an_unknown_example_is_refused_with_the_nearest_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tour", "kinks"]) == 2
    assert "did you mean `kink`?" in capsys.readouterr().err


def test_copies_are_the_examples_and_nothing_is_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine"
    assert main(["tour", "--copy", str(target)]) == 0
    assert {path.name for path in target.glob("*.py")} == {f"{one.name}.py" for one in EXAMPLES}
    assert main(["tour", "--copy", str(target)]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is simulated with pty")
def test_on_a_terminal_the_tour_waits_and_q_ends_it() -> None:
    import pty

    primary, secondary = pty.openpty()
    os.write(primary, b"q\n")
    words = [sys.executable, "-m", "gradproof", "tour"]
    streams = {"stdin": secondary, "stdout": secondary, "stderr": secondary}
    with interruptible(words, Path.cwd(), env={**os.environ, "TERM": "xterm"}, **streams) as process:
        os.close(secondary)
        shown = b""
        try:
            while chunk := os.read(primary, 65536):
                shown += chunk
        except OSError:  # the other side of the terminal is closed
            pass
        assert process.wait(60) == 0
    os.close(primary)
    assert b"q: quit" in shown
    assert b"unwatched" not in shown
