"""The error budget of a gradient: a bar beside every source line that has a share in its error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradproof.diagnosis.report import GradientReport
from gradproof.diagnosis.words import LIST_CAP, comma_list, count, printable, share
from gradproof.ir.span import Span
from gradproof.render.line import Line, Piece, cut, cut_middle, line
from gradproof.render.sentence import name
from gradproof.render.snippet import source_line

BAR = 20  # columns of a whole bar; a twentieth is the least difference that matters
LEAST_SHARE = 0.005  # less would be printed as 0 %

_EIGHTHS = " ▏▎▍▌▋▊▉"


def budget_lines(gradient: GradientReport, sources: Mapping[str, str], width: int) -> Iterator[Line]:
    """A heading and one row per source line, the largest share first; what is small is summed up."""
    lines = by_line(gradient)
    shown = [row for row in lines if abs(row[1]) >= LEAST_SHARE][:LIST_CAP]
    if not shown:
        return
    before, after = "  where the error of ", " arises"
    called = cut_middle(printable(name(gradient)), width - len(before) - len(after))
    yield line(before, Piece(called, "strong"), after)
    gutter = max(len(str(span.line)) for span, _, _ in shown)
    for span, part, ops in shown:
        number = f"{span.line:>{gutter}} | "
        code = f"{source_line(span, sources) or span}  ({comma_list(ops)})"
        # 4 blanks, a percentage of 6 columns and one blank on either side of the bar.
        room = width - 4 - 6 - 1 - BAR - 1 - len(number)
        yield line(
            f"    {share(part):>6} ",
            Piece(bar(part), "error"),
            " ",
            Piece(number, "gutter"),
            cut(printable(code), room),
        )
    if len(lines) > len(shown):
        rest = sum(part for _, part, _ in lines) - sum(part for _, part, _ in shown)
        rest = abs(rest) if abs(rest) < LEAST_SHARE else rest  # the sign of next to nothing says nothing
        yield line(f"    {share(rest):>6} ", " " * BAR, f" {count(len(lines) - len(shown), 'other line')}")


def shares_text(gradient: GradientReport) -> str:
    """What the bars say, but for whose error it is: two gradients that share it need one picture."""
    return "; ".join(
        f"{span}: {share(part)}" for span, part, _ in by_line(gradient) if abs(part) >= LEAST_SHARE
    )


def bar(part: float) -> str:
    """A bar of `BAR` columns for a share of one, to an eighth of a column."""
    eighths = round(min(1.0, abs(part)) * BAR * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(BAR)


def by_line(gradient: GradientReport) -> list[tuple[Span, float, tuple[str, ...]]]:
    """The budget summed over the ops of each line; shares may be negative where errors cancel."""
    lines: dict[tuple[str, int], tuple[Span, float, tuple[str, ...]]] = {}
    for row in gradient.budget:
        span, part, ops = lines.get((row.span.file, row.span.line), (row.span, 0.0, ()))
        ops = ops if row.op in ops else (*ops, row.op)
        lines[row.span.file, row.span.line] = (span, part + row.share, ops)
    return sorted(lines.values(), key=lambda row: -abs(row[1]))
