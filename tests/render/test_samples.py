"""The four samples of the style guide come out character by character."""

from pathlib import Path

import pytest

from gradproof.render.diagnostic_text import concise_line, diagnostic_lines, patch_lines
from gradproof.render.line import plain
from tests.render.samples import CANCELLATION, SAMPLES, SOURCES

FOLDER = Path(__file__).parent / "samples"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_comes_out_as_it_is_printed_in_the_style_guide(name: str) -> None:
    text = plain(diagnostic_lines(SAMPLES[name], SOURCES, 100))
    assert text == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_the_concise_line_is_what_editors_read() -> None:
    assert concise_line(CANCELLATION) == (
        "cancellation_tf.py:6:9: error[cancellation]: a subtraction leaves 0 of 7 correct digits, and the "
        "gradient is built on it"
    )


def test_a_patch_is_shown_alike_whether_it_has_the_headers_of_a_diff_or_not() -> None:
    bare = "- y = 1\n+ y = 2\n"
    diff = "--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-    y = 1\n+    y = 2\n"
    assert patch_lines(bare) == patch_lines(diff) == ["- y = 1", "+ y = 2"]


def test_a_patch_of_two_files_shows_a_gap_and_no_file_names() -> None:
    diff = "--- a\n+++ a\n@@ -1 +1 @@\n-y\n+z\n--- b\n+++ b\n@@ -1 +1 @@\n-if v:\n-    u\n+w\n"
    assert patch_lines(diff) == ["- y", "+ z", "...", "- if v:", "-     u", "+ w"]


def test_a_removed_line_that_begins_with_dashes_is_kept() -> None:
    assert patch_lines("--- 1\n+ y\n") == ["- -- 1", "+  y"]
