"""One gradient in every mode, as text: a table, the ops at which modes part, the verdict, the advice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.parting import OpSeen, Parting
from gradproof.diagnosis.words import printable, wrap
from gradproof.ir import types
from gradproof.judge.verdict import Verdict
from gradproof.modes.concluding import mode_names
from gradproof.modes.model import PRECISIONS, CallModes, ModeCell, ModeLine, ModeSource, ModesReport
from gradproof.render.diagnostic_text import patch_lines
from gradproof.render.line import PROSE_WIDTH, Line, Piece, coloured, line, plain
from gradproof.render.snippet import snippet

WIDTH = 100
MOST_SOURCES = 8  # gradients of one call that have a table each; models have hundreds
MEASURES = ("value", "digits", "gap to your run", "again", "other threads")
BITS = {True: "same bits", False: "other bits", None: ""}
_BLANK: Line = ()
_ROLES = {Verdict.CORRECT: "good", Verdict.UNVERIFIED: "warning"}


def to_modes_text(report: ModesReport, *, width: int = WIDTH, colour: bool = False) -> str:
    lines = [part for call in report.calls for part in _call(call, report.sources, width)]
    for note in report.notes:
        lines += [line(text) for text in wrap(f"note: {printable(note)}", PROSE_WIDTH, rest="  ")]
    if not report.calls:
        lines.append(line("gradproof: no gradient that could be compared"))
    return coloured(lines) if colour else plain(lines)


def verdict_lines(report: ModesReport) -> str:
    """One line for each call."""
    said = (f"{call.call}: {call.conclusion.kind}: {call.conclusion.verdict}" for call in report.calls)
    return (
        "".join(f"{printable(text)}\n" for text in said) or "gradproof: no gradient that could be compared\n"
    )


def _call(call: CallModes, sources: Mapping[str, str], width: int) -> Iterator[Line]:
    for k, source in enumerate(call.sources[:MOST_SOURCES]):
        name = printable(words.gradient_name(call.target, source.name, entry_shown(call, k)))
        yield line(Piece(name, "strong"), f"  {printable(place_shown(call))}")
        yield _BLANK
        yield from _table(call, k, source)
        yield _BLANK
    if len(call.sources) > MOST_SOURCES:
        yield line(f"and {len(call.sources) - MOST_SOURCES:,} more gradients; --json has all of them")
        yield _BLANK
    yield from _lacking(call)
    for op, lines in ops_of(call):
        yield from op_lines(op, lines, sources, width)
        yield _BLANK
    for note in call.notes:
        yield from (line(text) for text in wrap(f"note: {printable(note)}", PROSE_WIDTH, rest="      "))
    yield from _prose("verdict", call.conclusion.verdict)
    for advice in call.conclusion.advice:
        yield from _prose("run:   ", advice)
    if call.conclusion.rewriting is not None:
        yield from _rewriting(call.conclusion.rewriting)
    yield _BLANK


def place_shown(call: CallModes) -> str:
    """Where a gradient is asked for, and at which execution if it is not the first."""
    return f"{call.call}" if call.occurrence == 1 else f"{call.call}, execution {call.occurrence}"


def _rewriting(fix: Fix) -> Iterator[Line]:
    yield from _prose("run:   ", rewriting_text(fix))
    for changed in patch_lines(fix.patch) if fix.patch else ():
        yield line(f"           {printable(changed)}")


def rewriting_text(fix: Fix) -> str:
    """What was changed, and what the mode then returned."""
    return f"{fix.text}: {fix.checked}"


def _prose(label: str, text: str) -> Iterator[Line]:
    first, *rest = wrap(printable(text), PROSE_WIDTH - len(label) - 2)
    yield line(Piece(f"{label}", "strong"), f"  {first}")
    for more in rest:
        yield line(" " * (len(label) + 2) + more)


def entry_shown(call: CallModes, k: int) -> tuple[int, ...]:
    """The entry of a gradient that the table is about: the worst of the worst mode in the user's own precision."""
    if 0 in call.sources[k].shape or not call.sources[k].shape:
        return ()
    own = [one for one in call.lines if one.dtype == call.dtype] or list(call.lines)
    ranked = sorted(own, key=lambda one: (-one.cells[k].verdict.severity, one.cells[k].digits or 0.0))
    worst = next((one.cells[k].worst for one in ranked if one.cells[k].worst is not None), None)
    return worst or (0,) * len(call.sources[k].shape)


def _table(call: CallModes, k: int, source: ModeSource) -> Iterator[Line]:
    """A row for each mode: what it returns in the user's own precision, and its digits in the others."""
    index, others = entry_shown(call, k), other_precisions(call)
    rows: list[tuple[str, ...]] = [("", call.dtype, *MEASURES, *others)]
    roles = [("faint",) * len(rows[0])]
    proven = proven_shown(source, index)
    if proven:
        rows.append(("proven", proven, *("",) * (len(rows[0]) - 2)))
        roles.append(("",) * len(rows[0]))
    for same in by_mode(call):
        rows.append(_row(call, same, k, index, others))
        roles.append(
            ("", "", "", _role(same, k, call.dtype), "", "", "", *(_role(same, k, one) for one in others))
        )
    widths = [max(words.columns(row[j]) for row in rows) for j in range(len(rows[0]))]
    for row, kinds in zip(rows, roles):
        cells = [cell + " " * (size - words.columns(cell) + 2) for cell, size in zip(row, widths)]
        yield line("  ", *(Piece(cell, role) for cell, role in zip(cells, kinds)))


def proven_shown(source: ModeSource, index: tuple[int, ...]) -> str:
    """One entry of the proven gradient; nothing where there is none, or no entry."""
    if source.true is None or source.true.mid.size == 0:
        return ""
    if index in source.beyond:
        return source.beyond[index]
    return words.number(source.true.mid[index].item(), float(source.true.rad[index]))


def other_precisions(call: CallModes) -> list[str]:
    return [one for one in PRECISIONS if one != call.dtype and any(line.dtype == one for line in call.lines)]


def by_mode(call: CallModes) -> list[dict[str, ModeLine]]:
    """The lines of each mode by precision, the modes in the order in which they were run."""
    found: dict[tuple[str, str], dict[str, ModeLine]] = {}
    for one in call.lines:
        found.setdefault((one.framework, one.mode), {})[one.dtype] = one
    return list(found.values())


def _role(same: Mapping[str, ModeLine], k: int, dtype: str) -> str:
    return _ROLES.get(same[dtype].cells[k].verdict, "error") if dtype in same else ""


def _row(
    call: CallModes, same: Mapping[str, ModeLine], k: int, index: tuple[int, ...], others: Sequence[str]
) -> tuple[str, ...]:
    first = next(iter(same.values()))
    name = printable(f"{words.framework_name(first.framework)}, {first.mode}")
    wide = tuple(digits_text(same[one].cells[k], same[one].counts) if one in same else "" for one in others)
    if call.dtype not in same:
        return (name, "", "", "", "", "", "", *wide)
    one = same[call.dtype]
    cell = one.cells[k]
    gap = "your own run" if one.is_own and not cell.gap_ulps else ulps_text(cell.gap_ulps)
    digits = digits_text(cell, one.counts)
    return (
        name,
        number_text(cell.gradient, index),
        number_text(one.value, ()),
        digits,
        gap,
        BITS[one.repeats],
        BITS[one.rethreads],
        *wide,
    )


def number_text(array: object, index: tuple[int, ...]) -> str:
    if array is None:
        return "None"
    value = np.asarray(array)
    if value.ndim < len(index) or value.size == 0:
        return ""
    entry = value[index] if index else value.ravel()[0]
    return words.number(entry.item() if hasattr(entry, "item") else entry, dtype=types.dtype_name(value))


def digits_text(cell: ModeCell, dtype: str) -> str:
    """`6.8 of 7.2`, with the verdict where it is not `correct`."""
    if cell.digits is None:
        return str(cell.verdict)
    text = words.digits_text(cell.digits, types.digits_possible(dtype)).removesuffix(" digits")
    return text if cell.verdict is Verdict.CORRECT else f"{text} {cell.verdict}"


def ulps_text(gap: float | None) -> str:
    if gap is None:
        return ""
    if not np.isfinite(gap):
        return "not finite"
    return "0 ulp" if gap == 0 else f"{words.significant(gap, 2).removesuffix('.0')} ulp"


def _lacking(call: CallModes) -> Iterator[Line]:
    if not call.lacking:
        return
    yield line("  not run")
    for who, reason in lacking_together(call):
        yield from (line(part) for part in wrap(printable(f"{who}: {reason}"), PROSE_WIDTH, "    ", "      "))
    yield _BLANK


def lacking_together(call: CallModes) -> list[tuple[str, str]]:
    """What was not run and why, together for each framework and reason."""
    names: dict[tuple[str, str], list[str]] = {}
    for one in call.lacking:
        names.setdefault((one.framework, one.reason), []).append(one.name)
    return [
        (f"{words.framework_name(framework)}, {'; '.join(same)}", reason)
        for (framework, reason), same in names.items()
    ]


def ops_of(call: CallModes) -> list[tuple[OpSeen, list[ModeLine]]]:
    """Every op at which modes part, or from which on they are off, once, with the modes that do so in the same way."""
    found: dict[object, tuple[OpSeen, list[ModeLine]]] = {}
    for one in call.lines:
        for cell in one.cells:
            for op in cell.ops:
                beside = op.beside if isinstance(op, Parting) else None
                lines = found.setdefault((op.node, op.other, op.whose.kind, beside), (op, []))[1]
                if one not in lines:
                    lines.append(one)
    return list(found.values())


def op_title(op: OpSeen, lines: Sequence[ModeLine]) -> str:
    names = mode_names(lines)
    if not isinstance(op, Parting):
        return f"{names} {'is' if len(lines) == 1 else 'are'} off from here on"
    where = "here" if op.share is None else "where it matters"
    beside = f"{op.beside} op by op" if op.beside else "the run op by op"
    return f"{names} {'parts' if len(lines) == 1 else 'part'} from {beside} {where}"


def op_lines(op: OpSeen, lines: Sequence[ModeLine], sources: Mapping[str, str], width: int) -> Iterator[Line]:
    yield line(Piece(printable(op_title(op, lines)), "strong"))
    yield from op_snippet(op, sources, width)
    rows = list(op_rows(op))
    size = max(len(name) for name, _ in rows) + 1
    for name, value in rows:
        text = printable(f"{name:<{size}}{value}")
        yield from (line(part) for part in wrap(text, PROSE_WIDTH, "    ", " " * (4 + size)))


def op_snippet(op: OpSeen, sources: Mapping[str, str], width: int) -> Iterator[Line]:
    """The op in the user's source."""
    label = f"`{op.op}`" if op.phase == "forward" else f"`{op.op}` in the derivative of this"
    if op.span is not None:
        marked = Annotation(op.span, label)
        yield from snippet(Diagnostic("execution-mode", "note", "measured", "", marked), sources, width)


def op_rows(op: OpSeen) -> Iterator[tuple[str, str]]:
    """What an op had and returned, with names."""
    yield "op", op.op + (", backward" if op.phase == "backward" else "")
    if op.inputs:
        yield "inputs", words.comma_list(list(op.inputs))
    if op.exact:
        yield "exact", op.exact
    if isinstance(op, Parting):
        yield op.beside or "op by op", op.single
    yield "here", op.other
    yield "whose" if isinstance(op, Parting) else "why", op.whose.text
    if op.share is not None:
        of = (
            "the gap in the gradient comes"
            if isinstance(op, Parting)
            else "all errors that reach the gradient come"
        )
        yield "share", f"{words.share(op.share)} of {of} from this op"
