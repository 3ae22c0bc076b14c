"""Finds out why a target has no gradient for a source: where the path between them broke."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gradproof.frontends.record.place import assigns_to_an_entry, rebinds_its_operand, span_of
from gradproof.ir.program import OPAQUE
from gradproof.tape.array import Array
from gradproof.tape.lowering import lowered
from gradproof.tape.missing import Missing
from gradproof.tape.record import LEAF, Origin, Record, TapeToken, ancestors
from gradproof.tape.state import TapeExit, roots_of
from gradproof.tape.variable import Variable


@dataclass(frozen=True)
class Question:
    """Everything known when a gradient turned out to be missing."""

    target: Any
    source: Any
    target_name: str
    source_name: str
    token: TapeToken
    leaves: Iterable[TapeExit]
    is_watched: bool

    def answer(self, reason: str, place: Any, message: str, remedy: str = "") -> Missing:
        return Missing(reason, span_of(place), message, remedy, self.source_name)


def why_missing(question: Question) -> Missing:
    """The first finding of those that look at the source, at the target, and at the way between."""
    for find in _FINDINGS:
        missing = find(question)
        if missing is not None:
            return missing
    return question.answer(
        "not-connected",
        _place(question.target),
        f"`{question.target_name}` does not depend on `{question.source_name}`",
    )


def _place(item: Any) -> Any:
    return item._record.place if isinstance(item, Array) and item._record is not None else None


def _plain_source(q: Question) -> Missing | None:
    if isinstance(q.source, Array):
        return None
    kind = type(q.source).__name__
    return q.answer(
        "not-watched",
        None,
        f"`{q.source_name}` is a plain {kind}, which no tape can follow",
        f"inside the tape: `{q.source_name} = tape.watch({q.source_name})`, or make it a Variable",
    )


def _integer_source(q: Question) -> Missing | None:
    if q.source.dtype.kind not in "biu":
        return None
    return q.answer(
        "integer-dtype",
        _place(q.source),
        f"`{q.source_name}` is an array of {q.source.dtype}",
        f"give `{q.source_name}` a floating-point dtype",
    )


def _rebound_source(q: Question) -> Missing | None:
    """`w = w - step` outside a tape: the name no longer stands for the Variable."""
    origin = q.source._origin
    if isinstance(q.source, Variable) or origin is None or q.source.is_tracked:
        return None
    name = rebinds_its_operand(span_of(origin.place))
    if name is None or not any(getattr(root, "is_trainable", False) for root in origin.roots):
        return None
    return q.answer(
        "reassigned-variable",
        origin.place,
        f"`{name}` was replaced by the result of a computation and is no longer a Variable",
        f"change the Variable in place: `{name}.assign(...)`, `{name}.assign_sub(...)` or `{name} -= ...`",
    )


def _unwatched_source(q: Question) -> Missing | None:
    if q.is_watched:
        return None
    origin = q.source._origin
    place = origin.place if origin is not None else _place(q.source)
    kind = "the Variable " if isinstance(q.source, Variable) else ""
    return q.answer(
        "not-watched",
        place,
        f"the tape did not watch {kind}`{q.source_name}`",
        f"inside the tape, before it is used: `tape.watch({q.source_name})`",
    )


def _plain_target(q: Question) -> Missing | None:
    if isinstance(q.target, Array):
        return None
    left = _left(q)
    if left is not None:  # a Missing is false
        return left
    kind = type(q.target).__name__
    return q.answer(
        "not-connected", None, f"`{q.target_name}` is a plain {kind} that no op of the tape computed"
    )


def _outside_target(q: Question) -> Missing | None:
    record = q.target._record
    if record is not None and (q.token in record.tapes or record.op == LEAF):
        return None
    if not (q.target.roots & _identities(q.source)):
        return None
    origin = q.target._origin
    if origin is not None and origin.reason != "outside-tape":
        return _constant_reason(q, origin)
    place = record.place if record is not None else origin.place
    return q.answer(
        "outside-tape",
        place,
        f"`{q.target_name}` was computed while the tape was not recording",
        "move the computation into the `with` block of the tape",
    )


def _broken_path(q: Question) -> Missing | None:
    """Something between source and target turned the path into a constant: the latest such place is named."""
    record = q.target._record
    if record is None:
        return None
    wanted = _identities(q.source)
    for ancestor in reversed(ancestors([lowered(record)])):
        missing = _breaks_here(q, ancestor, wanted)
        if missing is not None:
            return missing
    return None


def _breaks_here(q: Question, record: Record, wanted: frozenset[object]) -> Missing | None:
    if record.origin is not None and record.origin.roots & wanted:
        return _constant_reason(q, record.origin)
    if record.op == LEAF or not roots_of(record) & wanted:
        return None
    if record.is_discrete:
        what = record.op.removeprefix(OPAQUE)
        return q.answer(
            "discrete-op",
            record.place,
            f"`{what}` has discrete results, and the path from `{q.source_name}` ends there",
            "use a smooth function instead of the discrete one",
        )
    if record.op.startswith(OPAQUE):
        return no_rule(q, record)
    return None


def _constant_reason(q: Question, origin: Origin) -> Missing:
    if origin.reason == "stop-gradient":
        return q.answer(
            "stop-gradient",
            origin.place,
            f"`stop_gradient` makes what comes from `{q.source_name}` a constant",
        )
    return q.answer(
        origin.reason,
        origin.place,
        f"what was computed from `{q.source_name}` here is a constant to the tape",
        "compute it inside the tape, after the source is watched",
    )


def no_rule(q: Question, record: Record) -> Missing:
    name = record.op.removeprefix(OPAQUE)
    return q.answer(
        "no-gradient-registered",
        record.place,
        f"`{name}` has no derivative here, and the path runs through it",
        "write it with other functions, or wrap it in `gradproof.custom_gradient`",
    )


def _left(q: Question) -> Missing | None:
    """Numbers of the source left the tape: named only if nothing else explains the break."""
    wanted = _identities(q.source)
    for leave in reversed(list(q.leaves)):
        if q.token not in leave.tapes or not roots_of(leave.record) & wanted:
            continue
        span = span_of(leave.place)
        if leave.how in ("np.asarray", "float()") and assigns_to_an_entry(span):
            return q.answer(
                "left-framework",
                leave.place,
                "the value was stored in a plain NumPy array, which keeps numbers only",
                "make the array with `np.zeros_like` of a traced array, or collect the parts and use `np.stack`",
            )
        return q.answer(
            "left-framework",
            leave.place,
            f"`{leave.how}` turned a traced value into plain numbers",
            "use NumPy's functions on the traced array itself; join numbers with `np.stack`",
        )
    return None


def _identities(source: Any) -> frozenset[object]:
    if isinstance(source, Variable):
        return frozenset((source._identity,))
    return source.roots if isinstance(source, Array) else frozenset()


_FINDINGS: tuple[Callable[[Question], Missing | None], ...] = (
    _plain_source,
    _integer_source,
    _rebound_source,
    _unwatched_source,
    _plain_target,
    _outside_target,
    _broken_path,
    _left,
)
