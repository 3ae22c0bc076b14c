"""Source snippets: underlines stand under what they mean, whatever the line is made of."""

import linecache

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import columns
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.line import plain
from gradproof.render.snippet import snippet, with_sources
from tests.render.reports import gradient
from tests.render.samples import note


def drawn(source: str, *annotations: Annotation, width: int = 100) -> str:
    first, *others = annotations
    diagnostic = Diagnostic("kink", "error", "proven", "a headline", primary=first, secondary=tuple(others))
    return plain(snippet(diagnostic, {"f.py": source}, width))


def test_the_underline_stands_under_a_fragment_after_tabs() -> None:
    source = "if x:\n\t\ty = log(x)\n"
    assert drawn(source, note("f.py", source, "log(x)", "here")) == (
        " --> f.py:2:7\n  |\n2 |         y = log(x)\n  |             ^^^^^^ here\n  |\n"
    )


def test_the_underline_stands_under_a_fragment_after_wide_characters_and_marks() -> None:
    source = "值 = e\u0301 + log(x)\n"
    text = drawn(source, note("f.py", source, "log(x)", "here"))
    # Bytes are not characters and characters are not columns: three for 值, two for the accented letter.
    assert " --> f.py:1:10\n" in text
    shown, underline = text.splitlines()[2:4]
    assert columns(shown[: shown.index("log")]) == underline.index("^")


def test_a_tab_within_a_line_reaches_the_next_stop() -> None:
    source = "ab\tlog(x)\n"
    text = drawn(source, note("f.py", source, "log(x)", "here"))
    assert "1 | ab  log(x)\n  |     ^^^^^^ here\n" in text


def test_the_columns_of_wide_characters_and_marks_are_counted() -> None:
    assert [columns(text) for text in ("abc", "値", "e\u0301", "\u200b", "")] == [3, 2, 1, 0, 0]


def test_an_unknown_column_underlines_the_whole_line() -> None:
    source = "def f():\n    return 1  \n"
    assert "2 |     return 1\n  |     ^^^^^^^^ here\n" in drawn(source, Annotation(Span("f.py", 2), "here"))


def test_a_span_of_several_lines_is_underlined_line_by_line_and_labelled_once() -> None:
    source = "y = f(\n    a,\n    b,\n)\n"
    assert drawn(source, note("f.py", source, "f(\n    a,\n    b,\n)", "the call")) == (
        " --> f.py:1:5\n  |\n"
        "1 | y = f(\n  |     ^^\n"
        "2 |     a,\n  |     ^^\n"
        "3 |     b,\n  |     ^^\n"
        "4 | )\n  | ^ the call\n  |\n"
    )


def test_a_long_span_shows_its_first_two_lines_and_its_last() -> None:
    source = "f(\n" + "    a,\n" * 20 + ")\n"
    text = drawn(source, Annotation(Span("f.py", 1, 0, 22, 1), "the call"))
    assert [row.split("|")[0].strip() for row in text.splitlines()[1:]] == [
        "", "1", "", "2", "", "..", "22", "", "",
    ]  # fmt: skip


def test_two_annotations_of_one_line_are_drawn_below_each_other_the_main_one_last() -> None:
    source = "y = a - b\n"
    text = drawn(source, note("f.py", source, "a - b", "lost"), note("f.py", source, "b", "rounded"))
    assert text.endswith("1 | y = a - b\n  |         - rounded\n  |     ^^^^^ lost\n  |\n")


def test_dots_stand_for_lines_left_out_as_wide_as_the_numbers() -> None:
    source = "\n" * 8 + "a\n\nb\n"
    text = drawn(source, Annotation(Span("f.py", 11), "b"), Annotation(Span("f.py", 9), "a"))
    assert " 9 | a\n   | - a\n.. |\n11 | b\n   | ^ b\n" in text


def test_a_line_that_is_not_available_keeps_its_label() -> None:
    text = drawn("one line\n", Annotation(Span("f.py", 7, 3, 7, 9), "computed 0"))
    assert text.startswith(" --> f.py:7:4\n")
    assert "7 | (this line is not available)\n" in text
    assert "computed 0" in text


def test_columns_beyond_the_line_still_point_at_its_end() -> None:
    assert "1 | y\n  |  ^ here\n" in drawn("y\n", Annotation(Span("f.py", 1, 50, 1, 60), "here"))


def test_an_empty_span_is_one_column_wide() -> None:
    assert "  |   ^ here\n" in drawn("y = 1\n", Annotation(Span("f.py", 1, 2, 1, 2), "here"))


def test_a_label_without_room_beside_the_underline_goes_below_it() -> None:
    source = "value = compute_something(with_a_long_argument)\n"
    annotation = note("f.py", source, "with_a_long_argument", "this label does not fit beside it")
    text = drawn(source, annotation, width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert "this label does not fit beside it" in text


def test_a_line_too_long_for_the_screen_shows_the_part_that_is_underlined() -> None:
    source = f"y = [{'1, ' * 100}log(x), {'2, ' * 100}]\n"
    text = drawn(source, note("f.py", source, "log(x)", "here"), width=60)
    shown, underline = text.splitlines()[2:4]
    assert max(map(columns, text.splitlines())) <= 60
    assert shown.count("…") == 2
    assert shown[underline.index("^") : underline.rindex("^") + 1] == "log(x)"


def test_another_file_gets_its_own_place() -> None:
    diagnostic = Diagnostic(
        "kink", "error", "proven", "a headline",
        primary=Annotation(Span("f.py", 1, 0, 1, 1), "main"),
        secondary=(Annotation(Span("g.py", 2, 0, 2, 1), "other"),),
    )  # fmt: skip
    text = plain(snippet(diagnostic, {"f.py": "a\n", "g.py": "\nb\n"}, 100))
    assert text.index(" --> f.py:1:1") < text.index(" ::: g.py:2:1") < text.index("- other")


def test_a_form_feed_does_not_end_a_line() -> None:
    source = "a\n\x0cb\nlog(x)\n"
    assert "3 | log(x)\n" in drawn(source, note("f.py", source, "log(x)", "here"))


def test_control_characters_of_the_source_do_not_reach_the_terminal() -> None:
    text = drawn("y = '\x1b[31m\u202e'\r\n", Annotation(Span("f.py", 1, 0, 1, 1), "a\x07label\nhere"))
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(text)
    assert "label here" in text


def test_rendering_reads_no_file_and_making_a_report_does(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "train.py"
    path.write_text("secret = 1\n", encoding="utf-8")
    primary = Annotation(Span(str(path), 1))
    diagnostic = Diagnostic("kink", "error", "proven", "a headline", primary=primary)
    report = Report((gradient(Verdict.WRONG, diagnostics=(diagnostic,)),))
    assert "secret" not in str(report)
    linecache.checkcache(str(path))
    finished = with_sources(report)
    path.unlink()
    assert "secret = 1" in str(finished)
