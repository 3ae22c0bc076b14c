"""Which recorded op a gradient rule was called for.

TensorFlow tells a rule the op's name and the tensors that the rule needs, no more. Where these do not say which op it
was, as for a rule that needs none of them (`Neg`, `Cast`, `Identity`), the gradient that came in does: it was
returned, by a rule whose op is known, for the tensor that this op has put out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradproof.frontends.tensorflow.recorder import RawEvent, RawPullback


def match_pullbacks(
    raws: Iterable[RawPullback], events: Sequence[RawEvent]
) -> Iterator[tuple[RawPullback, RawEvent | None]]:
    """Each pullback with the op it differentiates: same op, same tensors, the latest not yet taken."""
    by_op: dict[str, list[RawEvent]] = {}
    for event in events:
        by_op.setdefault(event.op, []).append(event)
    owners = _Owners(by_op.get("AddN", ()))
    taken: set[int] = set()
    for raw in raws:
        free = [e for e in reversed(by_op.get(raw.op, [])) if e.index not in taken and e.index <= raw.id]
        match = next((e for e in free if _same(raw, e)), None) or owners.match(raw, free)
        if match is not None:
            taken.add(match.index)
            owners.note(raw, match)
        yield raw, match


class _Owners:
    """Which tensors a gradient was computed for, as far as the rules seen up to now tell."""

    def __init__(self, sums: Iterable[RawEvent]) -> None:
        self._tensors: dict[int, set[int]] = {}
        self._parts = {out: _ids(event.inputs) for event in sums for out in _ids(event.outputs)}

    def note(self, raw: RawPullback, match: RawEvent) -> None:
        for tensor, result in zip(match.inputs, raw.results):
            if hasattr(result, "_id"):
                self._tensors.setdefault(result._id, set()).add(tensor._id)

    def of(self, gradient: int) -> set[int]:
        """Of a sum of gradients that holds for every summand."""
        if gradient in self._tensors or gradient not in self._parts:
            return self._tensors.get(gradient, set())
        return set.intersection(*(self.of(part) for part in self._parts[gradient]))

    def match(self, raw: RawPullback, free: Sequence[RawEvent]) -> RawEvent | None:
        """For a rule that was given no tensors of its op."""
        if _ids(raw.inputs) or _ids(raw.outputs):
            return None
        wanted = set().union(*(self.of(gradient) for gradient in _ids(raw.upstream)))
        return next((event for event in free if wanted & set(_ids(event.outputs))), None)


def _ids(tensors: Iterable[Any]) -> list[int]:
    return [tensor._id for tensor in tensors if hasattr(tensor, "_id")]


def _same(raw: RawPullback, event: RawEvent) -> bool:
    """Whether the tensors that the tape kept are those of the event; it drops those no rule needs."""
    inputs, outputs = _ids(raw.inputs), _ids(raw.outputs)
    if not inputs and not outputs:
        return False
    return set(_ids(event.inputs)).issuperset(inputs) and set(_ids(event.outputs)).issuperset(outputs)
