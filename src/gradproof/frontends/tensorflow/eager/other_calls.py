"""What a gradient call has to do with other calls of the same tape: nothing, unless it was given their results.

A tape that is asked for one gradient after the other keeps what ran for all of them. In the record of one call the
ops of the others would only be in the way, and a Jacobian by rows would be recorded again with each of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tensorflow.python.util import nest

from gradproof.frontends.tensorflow.eager.recorder import Collection, RawEvent, RawPullback


def without_other_calls(collection: Collection, call: int, given: Any) -> Collection:
    """The record of a call that was given these tensors, without what its tape ran for others and did not hear."""
    if not any(_is_foreign(event, collection.id, call) for event in collection.events):
        return collection
    events = _kept(collection, call, given)
    # Zeros that TensorFlow keeps for all calls are made outside of any rule.
    if any(_is_foreign(event, collection.id, call) and event.pullback is not None for event in events):
        return collection  # then the rules that the other call ran are part of this one
    own = [one for one in collection.pullbacks if not _is_foreign(one, collection.id, call)]
    return replace(collection, events=events, pullbacks=own)


def _is_foreign(one: RawEvent | RawPullback, tape: int, call: int) -> bool:
    return bool(one.within) and call not in one.within and tape not in one.tapes


def _kept(collection: Collection, call: int, given: Any) -> list[RawEvent]:
    needed = set(_ids(nest.flatten(given, expand_composites=True)))
    kept = []
    for event in reversed(collection.events):
        if not _is_foreign(event, collection.id, call) or needed.intersection(_ids(event.outputs)):
            kept.append(event)
            needed.update(_ids(event.inputs))
    return kept[::-1]


def _ids(tensors: Iterable[Any]) -> list[int]:
    return [tensor._id for tensor in tensors if hasattr(tensor, "_id")]
