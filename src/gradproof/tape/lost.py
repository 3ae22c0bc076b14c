"""Parts of a target that its gradient may lack: numbers that left the tape and, by the text, come back as constants.

`check` runs the function again elsewhere, and measures whether such numbers matter. A tape in a program has only what
it recorded: numbers with more digits than anybody writes, in an expression that the program's text makes of those that
had left. That says what is possible, not what happened.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from gradproof.frontends.exits.assignments import MOST_ASSIGNMENTS, feeding
from gradproof.frontends.exits.evidence import are_rare, is_only_shown
from gradproof.frontends.exits.matching import operands, place_of, place_of_node
from gradproof.frontends.record.place import span_of
from gradproof.ir.span import Span
from gradproof.ir.surroundings import LostPart
from gradproof.tape.announce import Finished
from gradproof.tape.program import TapeSource
from gradproof.tape.record import Record, TapeCall, ancestors
from gradproof.tape.state import TapeExit
from gradproof.tape.structure import flatten

DEEPEST = 3  # names followed from where a constant is used


def lost_parts(finished: Finished) -> tuple[LostPart, ...]:
    """Each place once."""
    doors = {
        span: leave
        for leave in finished.leaves
        if (span := span_of(leave.place)) is not None and not is_only_shown(span)
    }
    return tuple(dict.fromkeys(_parts(finished, doors))) if doors else ()


def _parts(finished: Finished, doors: dict[Span, TapeExit]) -> Iterator[LostPart]:
    for record in ancestors(finished.proof.targets):
        span = span_of(record.place)
        if span is None or record.phase == "backward" or not _takes_rare_numbers(record, span.file):
            continue
        for left in (left for one in operands(span) for left in _doors_behind(one, doors)):
            names = _sources_behind(finished, doors[left].record)
            if names:
                yield LostPart("left-framework", doors[left].how, left, span, names)


def _sources_behind(finished: Finished, record: Record) -> frozenset[str]:
    before = set(ancestors([record]))
    return frozenset(
        name
        for name, source in zip(finished.names, finished.sources)
        if isinstance(source, TapeSource) and not before.isdisjoint(source.records)
    )


def _takes_rare_numbers(record: Record, file: str) -> bool:
    given = [one.value for one in record.inputs if not one.is_tracked]
    if isinstance(record.call, TapeCall):
        given += [
            one for one in flatten(record.call.args) if isinstance(one, float | np.floating | np.ndarray)
        ]
    return any(are_rare(np.asarray(one), (file,)) for one in given if not isinstance(one, tuple))


def _doors_behind(node: ast.expr, doors: dict[Span, TapeExit], depth: int = 0) -> Iterator[Span]:
    """The doors that an expression goes through itself, or that what its names were given goes through."""
    for inner in (one for one in ast.walk(node) if isinstance(one, ast.expr)):
        yield from (span for span in doors if place_of(span) == place_of_node(inner))
    for file in {span.file for span in doors} if depth < DEEPEST else ():
        for inner in (one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)):
            for value in feeding(file, inner)[:MOST_ASSIGNMENTS]:
                # What is put into an array leaves where it is put, which is beside the expression.
                yield from (span for span in doors if value.lineno <= span.line <= (value.end_lineno or 0))
                yield from _doors_behind(value, doors, depth + 1)
