"""Derivatives that were asked for and not computed: JAX refuses, or what runs on the way to them raises."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from jax._src import api, core, tree_util

from gradproof.frontends.jax.observe.asked import JaxAsked, asked_by, source_names
from gradproof.frontends.jax.observe.notes import Linearisation
from gradproof.frontends.jax.observe.session import JaxSession
from gradproof.frontends.jax.observe.trace import places_of
from gradproof.frontends.record.patches import Patch
from gradproof.frontends.record.source import Place, user_places

_CHECKS = (
    "_check_input_dtype_grad", "_check_input_dtype_jacrev", "_check_input_dtype_jacfwd", "_check_scalar",
    "_check_output_dtype_grad", "_check_output_dtype_jacrev", "_check_output_dtype_jacfwd",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Refusal:
    """A call that JAX refused, with the leaves that it was asked for: their names, dtypes and shapes."""

    asked: JaxAsked
    error: Exception
    leaves: tuple[tuple[str, str, tuple[int, ...]], ...]
    places: tuple[Place, ...]
    occurrence: int = 1
    step: tuple[Place, ...] = ()  # of the function that JAX names, where no frame shows it


class Refusals:
    """The hooks on JAX's own checks of what it is asked for, and what is told of calls that raise."""

    def __init__(self, session: JaxSession, tell: Callable[[Refusal], None]) -> None:
        self._session = session
        self._tell = tell
        self._told: tuple[int, str] | None = (
            None  # one exception ends one call, however many it passes through
        )

    def patches(self) -> list[Patch]:
        return [(api, name, partial(self._check, getattr(api, name))) for name in _CHECKS]

    def _check(self, original: Any, *args: Any) -> Any:
        try:
            return original(*args)
        except Exception as error:
            if not self._session.here.quiet:
                self._note(error, sys._getframe(1))
            raise

    def raised(self, noted: Linearisation | None, error: Exception, frame: Any) -> None:
        """What was asked for is not computed: the function, or one of the rules, raises."""
        if noted is None or self._session.here.quiet or self.is_told(error):
            return
        try:
            own = noted.asked.places
            places = own or user_places(frame)
            names = source_names(noted.asked, noted.tree, noted.paths, places)
            leaves = tuple((name, *_kind(one.value)) for name, one in zip(names, noted.sources))
            with self._session.silence():
                self._tell(Refusal(noted.asked, error, leaves, places, noted.occurrence, _step(noted, error)))
            self._told = _mark(error)
        except Exception:
            self._session.note_failure()

    def mark(self, error: Exception) -> None:
        """It has been told what this exception is about."""
        self._told = _mark(error)

    def is_told(self, error: BaseException) -> bool:
        return self._told == _mark(error)

    def _note(self, error: Exception, frame: Any) -> None:
        try:
            leaves: Any = ()
            asked = asked_by(frame, None)
            while frame is not None and "dyn_args" not in frame.f_locals:
                frame = frame.f_back
            if frame is not None:
                given = frame.f_locals["dyn_args"]
                found, tree = tree_util.tree_flatten_with_path(given)
                names = source_names(asked, tree, [path for path, _ in found])
                leaves = tuple((name, *_kind(leaf)) for name, (_, leaf) in zip(names, found))
            with self._session.silence():
                self._tell(Refusal(asked, error, leaves, asked.places))
            self._told = _mark(error)
        except Exception:
            self._session.note_failure()


def _step(noted: Linearisation, error: Exception) -> tuple[Place, ...]:
    """Going backward, JAX stands in no line of the user's: the last step that goes by the name it speaks of."""
    text = str(error)
    for piece in reversed(noted.pieces):
        if f"lax.{piece.name}_" in text:
            return piece.places
        inside = _inside(getattr(piece.body, "jaxpr", None), text)
        if inside:
            return inside
    return ()


def _inside(jaxpr: Any, text: str) -> tuple[Place, ...]:
    """The same among the steps of a compiled function."""
    for equation in reversed(() if jaxpr is None else jaxpr.eqns):
        if f"lax.{equation.primitive.name}_" in text:
            return places_of(equation.source_info.traceback)
        for inner in core.jaxprs_in_params(equation.params):
            found = _inside(inner, text)
            if found:
                return found
    return ()


def _mark(error: BaseException) -> tuple[int, str]:
    """Which exception it is, without keeping it and all that its frames hold."""
    return id(error), str(error)


def _kind(leaf: Any) -> tuple[str, tuple[int, ...]]:
    try:
        aval = leaf.aval if isinstance(leaf, core.Var) else core.typeof(leaf)
        return str(aval.dtype), tuple(aval.shape)
    except TypeError:
        return type(leaf).__name__, ()
