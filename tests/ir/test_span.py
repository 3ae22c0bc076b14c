"""Places in source."""

import sys

from gradproof.ir.span import Span


def test_a_place_is_written_as_editors_write_it() -> None:
    assert str(Span("train.py", 6, 8)) == "train.py:6:9"
    assert str(Span("train.py", 6)) == "train.py:6"


def test_the_last_line_is_never_before_the_first() -> None:
    assert Span("f.py", 6).last_line == 6
    assert Span("f.py", 6, 0, 9, 1).last_line == 9
    assert Span("f.py", 6, 0, 2, 1).last_line == 6


def test_the_positions_python_gives_are_passed_on_unchanged() -> None:
    frame = sys._getframe()
    positions = list(frame.f_code.co_positions())
    line, end_line, column, end_column = positions[frame.f_lasti // 2]
    assert line is not None
    span = Span(__file__, line, column, end_line, end_column, frame.f_code.co_name)
    assert span.in_file("f.py") == Span("f.py", line, column, end_line, end_column, span.function)
    assert span.function == "test_the_positions_python_gives_are_passed_on_unchanged"
