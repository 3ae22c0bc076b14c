"""The gradient tape: records NumPy code inside its `with` block and differentiates it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from gradproof.errors import InvalidInput, TapeMisused
from gradproof.frontends.record.place import here, names_of_arguments, span_of
from gradproof.tape.array import Array
from gradproof.tape.call import TapeGradientCall, differentiate, differentiate_each
from gradproof.tape.record import LEAF, Record, TapeToken
from gradproof.tape.state import STATE, TapeExit
from gradproof.tape.structure import flatten, flatten_like, map_leaves, names, unflatten
from gradproof.tape.variable import Identity, Variable, checked_values


class GradientTape:
    """Records what is computed from Variables and watched arrays inside its `with` block.

    A tape gives one gradient and is then used up, unless it is `persistent`. Tapes nest: a gradient computed
    while an outer tape records can be differentiated by it.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._token = TapeToken()
        self._watched: set[object] = set()
        self._is_recording = False
        self._is_consumed = False
        self._leaves: list[TapeExit] = []
        self._branches: list[Record] = []

    def __enter__(self) -> GradientTape:
        if self._is_recording:
            raise TapeMisused("this tape is already recording; nest two tapes instead of entering one twice")
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_recording:
            self._stop()

    def __del__(self) -> None:
        self._token.is_alive = False

    def watch(self, structure: Any) -> Any:
        """Make arrays sources of this tape and return them.

        A plain number or NumPy array cannot be followed: use what is returned in its place.
        """
        return map_leaves(self._watch_one, structure)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """What is computed inside is constant to this tape."""
        if not self._is_recording:
            raise TapeMisused(
                "stop_recording() needs a tape that records: call it inside the `with` block of the tape"
            )
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Forget everything recorded and watched; a tape that is recording goes on recording."""
        was_recording = self._is_recording
        if was_recording:
            self._stop()
        self._token.is_alive = False
        self._token, self._is_consumed = TapeToken(), False
        self._watched.clear()
        if was_recording:
            self._start()

    def watched_variables(self) -> tuple[Identity, ...]:
        """Who was passed to `watch` among the Variables; those that are merely used need no entry."""
        return tuple(item for item in self._watched if isinstance(item, Identity))

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any:
        """The gradient of `target`, summed over its entries, for each source, in the structure of `sources`.

        Where there is none: a `Missing` that says why, or zeros with `unconnected_gradients="zero"`.
        """
        call = self._call(target, sources, output_gradients, unconnected_gradients)
        return unflatten(sources, iter(self._finished(differentiate(call))))

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: str = "none") -> Any:
        """The derivatives of every entry of `target`: arrays of shape target.shape + source.shape."""
        if len(flatten(target)) != 1:
            raise InvalidInput("jacobian() takes one target; call it once for each")
        call = self._call(target, sources, None, unconnected_gradients)
        return unflatten(sources, iter(self._finished(differentiate_each(call))))

    def _finished(self, results: list[Any]) -> list[Any]:
        """A tape that is used up follows nothing any more, so what comes later does not carry its records on."""
        self._token.is_alive = not self._is_consumed
        return results

    def _call(self, target: Any, sources: Any, output_gradients: Any, unconnected: str) -> TapeGradientCall:
        if unconnected not in ("none", "zero"):
            raise InvalidInput(f"unconnected_gradients is 'none' or 'zero', not {unconnected!r}")
        self._consume()
        span = span_of(here())
        written = names_of_arguments(span)
        source_names = names(written[1] if len(written) > 1 else None, sources, "source")
        target_names = names(written[0] if written else None, target, "target")
        return TapeGradientCall(
            targets=flatten(target),
            seeds=flatten_like(output_gradients, target, "output_gradients"),
            sources=flatten(sources),
            target_name=", ".join(target_names),
            source_names=[_own_name(source) or name for source, name in zip(flatten(sources), source_names)],
            token=self._token,
            is_watched=self._is_watched,
            leaves=self._leaves,
            branches=self._branches,
            zero_if_missing=unconnected == "zero",
            span=span,
        )

    def _consume(self) -> None:
        if self._is_consumed:
            raise TapeMisused(
                "this tape is used up: a tape gives one gradient and then forgets what it recorded\n"
                "  for several gradients pass all sources at once, or use `GradientTape(persistent=True)`"
            )
        if not self._persistent:
            self._is_consumed = True
            if self._is_recording:
                self._stop()

    def _is_watched(self, source: Array) -> bool:
        """Leaves must be watched; what was computed on the tape may always be differentiated for."""
        record = source._record
        if record is None:
            return False
        if record.op != LEAF:
            return self._token in record.tapes or record in self._watched
        if isinstance(source, Variable) and source.trainable and self._watches_variables:
            return True
        return record in self._watched or record.call in self._watched

    def _watch_one(self, item: Any) -> Array:
        array = item if isinstance(item, Array) else Array(Record(LEAF, (), checked_values(item), here()))
        if array._record is None:
            origin = array._origin
            is_own = origin is not None and origin.reason == "not-watched" and len(origin.roots) == 1
            identity = next(iter(origin.roots)) if origin is not None and is_own else None
            array._record_now = Record(LEAF, (), array._value, here(), call=identity)
            array._origin = None
        self._watched.add(array._identity if isinstance(array, Variable) else array._record)
        return array

    def _start(self) -> None:
        if self._is_consumed:
            raise TapeMisused("this tape is used up; make a new one, or call reset()")
        if not STATE.tapes:
            STATE.leaves, STATE.branches = [], []
        assert STATE.leaves is not None
        assert STATE.branches is not None
        self._leaves, self._branches = STATE.leaves, STATE.branches
        STATE.tapes = (*STATE.tapes, self._token)
        self._is_recording = True

    def _stop(self) -> None:
        STATE.tapes = tuple(token for token in STATE.tapes if token is not self._token)
        self._is_recording = False


def _own_name(source: Any) -> str | None:
    return source.name if isinstance(source, Variable) else None
