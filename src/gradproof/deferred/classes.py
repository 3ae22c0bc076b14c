"""The closed table of classes that a file of a deferred check may hold."""

from __future__ import annotations

import dataclasses
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradproof.audit import draw
from gradproof.audit.crash import ProgramEnd
from gradproof.audit.facts import Heard
from gradproof.audit.settings import Settings
from gradproof.deferred.model import Begun, Ended, Judged, JudgedPiece, KeptCall, Text
from gradproof.diagnosis import diagnostic, entries, figures, report
from gradproof.diagnosis.drawing.sketch import Sketch
from gradproof.diagnosis.drawing.view import Outline
from gradproof.engine.refine import Enclosure
from gradproof.errors import UnreadableCapture
from gradproof.frameworks import framework
from gradproof.frontends.assemble import jacobians
from gradproof.frontends.assemble.ran import Ran
from gradproof.frontends.record.model import OpEvent, Value
from gradproof.frontends.select import WITH_COVERAGE, modes_in, records_of
from gradproof.ir import capture, program, span, surroundings
from gradproof.ir.field_types import check_fields
from gradproof.ir.pack import Packing, plain
from gradproof.ir.types import Array
from gradproof.ir.verify import verify
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

_PLAIN: tuple[type[Any], ...] = (
    program.Node,
    capture.Pullback, capture.Scope, capture.Inner, capture.Copies, capture.Again, capture.Break, capture.Stale,
    capture.Source, capture.Rows, capture.RuleRuns, capture.CallRun, capture.Capture,
    surroundings.Cut, surroundings.LostPart, surroundings.Uncut, surroundings.OpenRecord, surroundings.Differences,
    surroundings.Drawn, surroundings.Baked, surroundings.ModeGap, surroundings.Spoilt, surroundings.History,
    surroundings.Surroundings,
    jacobians.ByEntries, jacobians.ByExamples, jacobians.AlongTangents, Ran, OpEvent,
    diagnostic.Annotation, diagnostic.Fix, diagnostic.Diagnostic, entries.Entry, entries.EntryTable,
    report.BudgetLine, report.GradientReport, report.Script, report.Unchecked, Verdict, Enclosure,
    figures.Slice, figures.StepCurve, figures.Passage, figures.ModeRow, figures.NodeView, figures.ProgramView,
    figures.Figures, Outline, draw.Nothing, draw.DrawnFigures,
    Options, Settings, Heard, ProgramEnd, Begun, Ended, KeptCall, Judged, JudgedPiece, Text,
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Stored:
    """The numbers of a tensor that is no more."""

    array: Array

    def __call__(self) -> Array:
        return self.array


def _value(
    id: int, dtype: str, shape: tuple[int, ...] | None, array: Array | None, unknown: str | None
) -> Value:
    return Value(id, dtype, shape, None if array is None else Stored(array), unknown)


def _sketch_fields(sketch: Sketch) -> Iterator[Any]:
    """What runs a program in its framework is named, not written."""
    for name in _SKETCH:
        yield bool(sketch.replays) if name == "replays" else getattr(sketch, name)


def _sketch(*parts: Any) -> Sketch:
    made = Sketch(**{**dict(zip(_SKETCH, parts)), "replays": {}})
    return dataclasses.replace(made, replays=modes_in(made.framework)) if parts[_REPLAYS] else made


_SKETCH = tuple(field.name for field in dataclasses.fields(Sketch))
_REPLAYS = _SKETCH.index("replays")


def _program(*parts: Any) -> program.Program:
    made = program.Program(*parts)
    check_fields(made)
    verify(made)
    return made


def _span(*parts: Any) -> span.Span:
    """A place in a file whose text was kept: none is looked for here, where another file may have its name."""
    made = span.Span(*parts)
    check_fields(made)
    linecache.cache.setdefault(made.file, (0, None, [], made.file))
    return made


_SPECIAL = (
    dataclasses.replace(plain(program.Program), make=_program),
    Packing(
        Value,
        ("id", "dtype", "shape", "array", "unknown"),
        lambda one: (one.id, one.dtype, one.shape, one.array, one.unknown),
        _value,
    ),
    Packing(Sketch, _SKETCH, _sketch_fields, _sketch),
    # The time that pictures may take is shared out anew when the report is made.
    Packing(draw.Drawing, ("sketch",), lambda one: (one.sketch,), draw.Drawing),
)


class ClassTable:
    """The classes by name and the other way round; those of a framework are looked up when one occurs.

    `saw` is told the file of every place that is written.
    """

    def __init__(self, saw: Callable[[str], object] = lambda file: None) -> None:
        places = plain(span.Span)

        def noted(place: span.Span) -> Iterable[Any]:
            saw(place.file)
            return places.take(place)

        known = (*map(plain, _PLAIN), *_SPECIAL, dataclasses.replace(places, take=noted, make=_span))
        self._by_name = {packing.cls.__name__: packing for packing in known}
        self._names = {packing.cls: packing.cls.__name__ for packing in known}

    def name_of(self, cls: type[Any]) -> str | None:
        if cls not in self._names and cls.__module__.startswith("gradproof.frontends."):
            for name in WITH_COVERAGE:
                if framework(name).module in sys.modules:
                    self._add(name)
        return self._names.get(cls)

    def named(self, name: str) -> Packing | None:
        owner = name.partition(":")[0]
        if name not in self._by_name and owner in WITH_COVERAGE:
            try:
                self._add(owner)
            except ImportError as error:
                raise UnreadableCapture(
                    f"one of its ops can be computed by {framework(owner).title} only, which is not installed here"
                ) from error
        return self._by_name.get(name)

    def _add(self, owner: str) -> None:
        for cls in records_of(owner):
            self._names[cls] = f"{owner}:{cls.__name__}"
            self._by_name[self._names[cls]] = plain(cls)


TABLE = ClassTable()
