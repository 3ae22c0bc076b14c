"""Which recorded op a gradient rule was called for.

TensorFlow tells a rule the op's name and the tensors that the rule needs, no more. Where these do not say which op it
was, as for a rule that needs none of them (`Neg`, `Cast`, `Identity`), the gradient that came in does: it was
returned, by a rule whose op is known, for the tensor that this op has put out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradproof.frontends.tensorflow.eager.recorder import RawEvent, RawPullback


def match_pullbacks(
    raws: Iterable[RawPullback], events: Sequence[RawEvent]
) -> Iterator[tuple[RawPullback, RawEvent | None]]:
    """Each pullback with the op it differentiates: same op, same tensors, the latest not yet taken."""
    index = _Index(events)
    owners = _Owners(index.by_op.get("AddN", ()))
    taken: set[int] = set()
    for raw in raws:
        free = (e for e in index.candidates(raw) if e.index not in taken and e.index <= raw.id)
        match = next((e for e in free if _same(raw, e)), None) or owners.match(raw, index, taken)
        if match is not None:
            taken.add(match.index)
            owners.note(raw, match)
        yield raw, match


class _Index:
    """The ops by the tensors they took and gave: a pullback is compared with those that share one with it."""

    def __init__(self, events: Iterable[RawEvent]) -> None:
        self.by_op: dict[str, list[RawEvent]] = {}
        self._by_tensor: dict[tuple[str, int], list[RawEvent]] = {}
        for event in events:
            self.by_op.setdefault(event.op, []).append(event)
            for tensor in {*_ids(event.inputs), *_ids(event.outputs)}:
                self._by_tensor.setdefault((event.op, tensor), []).append(event)

    def candidates(self, raw: RawPullback) -> Iterable[RawEvent]:
        """The latest first. An output has one op that made it, an input may have many that took it."""
        tensors = _ids(raw.outputs) or _ids(raw.inputs)
        lists = [self._by_tensor.get((raw.op, tensor), []) for tensor in tensors]
        return reversed(min(lists, key=len)) if lists else ()

    def makers(self, op: str, tensor: int) -> Iterable[RawEvent]:
        """The ops of a kind that put a tensor out."""
        return (e for e in self._by_tensor.get((op, tensor), ()) if tensor in _ids(e.outputs))


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

    def match(self, raw: RawPullback, index: _Index, taken: set[int]) -> RawEvent | None:
        """For a rule that was given no tensors of its op."""
        if _ids(raw.inputs) or _ids(raw.outputs):
            return None
        wanted = set().union(*(self.of(gradient) for gradient in _ids(raw.upstream)))
        makers = {e.index: e for tensor in wanted for e in index.makers(raw.op, tensor)}
        free = [i for i in makers if i not in taken and i <= raw.id]
        return makers[max(free)] if free else None


def _ids(tensors: Iterable[Any]) -> list[int]:
    return [tensor._id for tensor in tensors if hasattr(tensor, "_id")]


def _same(raw: RawPullback, event: RawEvent) -> bool:
    """Whether the tensors that the tape kept are those of the event; it drops those no rule needs."""
    inputs, outputs = _ids(raw.inputs), _ids(raw.outputs)
    if not inputs and not outputs:
        return False
    return set(_ids(event.inputs)).issuperset(inputs) and set(_ids(event.outputs)).issuperset(outputs)
