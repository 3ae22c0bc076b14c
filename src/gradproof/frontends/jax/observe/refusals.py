"""Derivatives that were asked for and not computed: JAX refuses, or what runs on the way to them raises."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from jax._src import api, core, tree_util
from jax._src.interpreters import ad
from jax._src.interpreters import partial_eval as pe

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
        self.linearised: Mapping[Any, Linearisation] = {}

    def patches(self) -> list[Patch]:
        return [(api, name, partial(self._check, getattr(api, name))) for name in _CHECKS]

    def _check(self, original: Any, *args: Any) -> Any:
        try:
            return original(*args)
        except Exception as error:
            if not self._session.here.quiet:
                self._note(error, sys._getframe(1), args[-1])
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

    def _note(self, error: Exception, frame: Any, leaf: Any) -> None:
        try:
            leaves: Any = ()
            asked = asked_by(frame, None)
            places = asked.places or user_places(frame)
            step: tuple[Place, ...] = ()
            while frame is not None and "dyn_args" not in frame.f_locals:
                frame = frame.f_back
            if frame is not None:
                pullback = frame.f_locals.get("vjp_py", frame.f_locals.get("pullback"))
                step = () if pullback is None else _last_step(self.linearised.get(pullback.jaxpr))
                given = frame.f_locals["dyn_args"]
                found, tree = tree_util.tree_flatten_with_path(given)
                names = source_names(asked, tree, [path for path, _ in found], places)
                leaves = tuple((name, *_kind(leaf)) for name, (_, leaf) in zip(names, found))
            with self._session.silence():
                self._tell(Refusal(asked, error, leaves, places, step=step or _made_at(leaf)))
            self._told = _mark(error)
        except Exception:
            self._session.note_failure()


def _last_step(noted: Linearisation | None) -> tuple[Place, ...]:
    """Where the result of the function was made."""
    ends = () if noted is None else tuple(id(one.value) for one in noted.targets)
    events = () if noted is None else reversed(noted.forward.events)
    return next((event.places for event in events if any(id(y) in ends for y in event.outputs)), ())


def _made_at(leaf: Any) -> tuple[Place, ...]:
    """Where an array was made that stands for one while a function is traced."""
    while isinstance(leaf, ad.LinearizeTracer | ad.JVPTracer):
        leaf = leaf.primal
    return places_of(leaf._line_info.traceback) if isinstance(leaf, pe.DynamicJaxprTracer) else ()


def _step(noted: Linearisation, error: Exception) -> tuple[Place, ...]:
    """Going backward, JAX stands in no line of the user's: the last step that goes by the name it speaks of."""
    text = str(error)
    for piece in reversed(noted.pieces):
        if f"lax.{piece.name}_" in text:
            return piece.places
        for jaxpr in () if piece.body is None else core.jaxprs_in_params(piece.body.params):
            inside = _inside(jaxpr, text)
            if inside:
                return inside
    return ()


def _inside(jaxpr: Any, text: str) -> tuple[Place, ...]:
    """The same among the steps of a compiled function."""
    for equation in reversed(jaxpr.eqns):
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
