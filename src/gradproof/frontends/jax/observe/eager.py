"""Derivatives that are computed eagerly: `linearize` runs the function, the pullback runs the rules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from jax._src import api, tree_util
from jax._src.interpreters import ad

from gradproof.frontends.jax.observe.asked import asked_by, is_called_by_a_rule
from gradproof.frontends.jax.observe.checks import CheckGrads
from gradproof.frontends.jax.observe.compiled import CompiledFunctions
from gradproof.frontends.jax.observe.forward import following_forward
from gradproof.frontends.jax.observe.notes import Ending, JaxRuleRun, Linearisation
from gradproof.frontends.jax.observe.peel import UnreadableTracer, bottom, is_executing
from gradproof.frontends.jax.observe.pieces import Pieces
from gradproof.frontends.jax.observe.plain_numbers import followed, plain
from gradproof.frontends.jax.observe.refusals import Refusals
from gradproof.frontends.jax.observe.session import JaxSession, lenient
from gradproof.frontends.jax.observe.shared import equations_into, folding, watching
from gradproof.frontends.jax.observe.trace import JaxCollection, numbers
from gradproof.frontends.jax.observe.twin import array_of, twin, with_bottom
from gradproof.frontends.record.patches import Patch, wrap

N_LINEARISED = 4  # of what `linearize` returns, that come before the auxiliary output


class JaxGradients:
    """The hooks on reverse mode: `grad`, `value_and_grad`, `vjp`, `jacrev`."""

    def __init__(self, session: JaxSession, compiled: CompiledFunctions, refusals: Refusals) -> None:
        self._session = session
        self._checks = CheckGrads(session)
        self._refusals = refusals
        self._compiled = compiled
        self._pieces = Pieces(session)
        self._linearised: WeakKeyDictionary[Any, Linearisation] = WeakKeyDictionary()
        refusals.linearised = self._linearised

    def patches(self) -> list[Patch]:
        return [
            wrap(ad, "linearize", self._linearize),
            wrap(ad, "jvp", self._jvp),
            wrap(api, "_lift_linearized", self._lifted),
            wrap(api.VJP, "__call__", self._pullback),
            *self._checks.patches(),
        ]

    def _linearize(self, original: Any, traceable: Any, primals: Any, *args: Any, **kwargs: Any) -> Any:
        noted = self._begin(traceable, primals, sys._getframe(2))
        if noted is None:
            return original(traceable, primals, *args, **kwargs)
        around = watching(noted) if noted.is_staged else self._recording(noted, noted.forward)
        with self._telling(noted), self._inside(noted), self._pieces.following(noted), around:
            result = original(traceable, primals, *args, **kwargs)
        try:
            noted.targets = tuple(bottom(x) for x in result[0])
            result = _as_python_has_it(noted, result)
            noted.residuals = tuple(bottom(x) for x in result[3])
            self._linearised[result[2]] = noted
        except Exception:
            self._session.note_failure()
        return result

    def _jvp(self, original: Any, fun: Any, primals: Any, tangents: Any, *args: Any, **kwargs: Any) -> Any:
        """Forward mode, as `jvp` and `jacfwd` use it; JAX's own uses of it are part of something else."""
        frame = sys._getframe(2)
        is_asked = frame.f_code is api._jvp.__code__ and not is_called_by_a_rule(frame)
        noted = self._begin(fun, primals, frame, is_forward=True) if is_asked else None
        if noted is None:
            return original(fun, primals, tangents, *args, **kwargs)
        around = (
            watching(noted, is_forward=True) if noted.is_staged else self._recording(noted, noted.forward)
        )
        with self._telling(noted), self._inside(noted), following_forward(self._session, noted), around:
            result = original(fun, primals, tangents, *args, **kwargs)
        try:
            noted.targets = tuple(bottom(x) for x in result[0])
            ending = Ending(next(numbers), noted, noted.asked, (), (), JaxCollection())
            ending.is_forward = True
        except UnreadableTracer:
            return result
        except Exception:
            self._session.note_failure()
            return result
        self._end(ending, list(tangents), list(result[1]))
        return _as_python_has_it(noted, result)

    @contextmanager
    def _telling(self, noted: Linearisation, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
        """A call that raises is told of."""
        try:
            yield
        except but:
            raise
        except Exception as error:
            self._refusals.raised(noted, error, sys._getframe(3))
            raise

    @contextmanager
    def _recording(self, noted: Linearisation, collection: JaxCollection) -> Iterator[None]:
        """What is executed in this block is heard, and what Python computes with numbers that it was given."""
        is_plain = bool(noted.plain) or any(isinstance(one.value, float) for one in noted.sources)
        with (
            followed(self._session, noted.made) if is_plain else nullcontext(),
            folding(noted) if is_plain else nullcontext(),
            self._session.recording(collection),
        ):
            yield

    @contextmanager
    def _inside(self, noted: Linearisation) -> Iterator[None]:
        """Gradients that are computed in this block are part of the function."""
        self._session.here.linearising.append(noted)
        try:
            yield
        finally:
            self._session.here.linearising.remove(noted)

    def _begin(
        self, traceable: Any, primals: Any, frame: Any, is_forward: bool = False
    ) -> Linearisation | None:
        session = self._session
        if session.here.quiet:
            return None
        try:
            is_staged = not is_executing()
            asked = asked_by(frame, traceable)
            occurrence = 1
            if not is_staged:
                site, wanted = session.sites.begin(asked.site())
                if not wanted:
                    return None
                occurrence = site.executions
            plain: dict[int, Any] = {}
            if not is_staged:
                # Rules of forward mode are given Python numbers as they are, and compute with them.
                known = None if is_forward else plain
                primals.vals = tuple(self._own(x, known) for x in primals.vals)
            paths = tuple(path for path, _ in tree_util.tree_flatten_with_path(primals.unflatten())[0])
            return Linearisation(
                next(numbers),
                asked,
                primals.tree,
                paths,
                tuple(bottom(x) for x in primals),
                occurrence,
                JaxCollection(),
                is_staged=is_staged,
                plain=plain,
            )
        except UnreadableTracer:  # a rule of somebody's library asks, in the middle of something else
            return None
        except Exception:
            session.note_failure()
            return None

    def _own(self, x: Any, plain: dict[int, Any] | None) -> Any:
        """What is differentiated for gets an identity of its own: the function may also use it as a constant.

        A Python number is written into the jaxpr of a loop as it is, so that an array stands for it.
        """
        old = bottom(x).value
        with self._session.silence():
            new = None if plain is None else array_of(old)
        if new is None:
            new = twin(old)
        elif plain is not None:
            plain[id(new)] = old
        if new is old:
            return x
        self._session.note_same(old, new)
        return with_bottom(x, new)

    def _pullback(self, original: Any, vjp: Any, out_ct: Any, *extra: Any) -> Any:
        session = self._session
        noted = None if session.here.quiet else self._linearised.get(vjp.jaxpr)
        if noted is None or noted.is_staged == is_executing():  # as a part of something that is traced
            return original(vjp, out_ct, *extra)
        asked = asked_by(sys._getframe(2), noted.asked.function)
        ending = Ending(next(numbers), noted, asked, (), (), JaxCollection(), linear=vjp.jaxpr)
        ending.is_known = tuple(map(bool, vjp.fun.args[1]))
        rules: list[JaxRuleRun] = []
        session.here.within.append(ending.id)
        around = equations_into(ending.own) if noted.is_staged else self._recording(noted, ending.backward)
        try:
            with self._telling(noted, FloatingPointError), self._pieces.applying(noted, rules), around:
                result = original(vjp, out_ct, *extra)
        except FloatingPointError as error:  # by `jax_debug_nans`
            if self._through(ending, partial(original, vjp, out_ct, *extra), out_ct):
                self._refusals.mark(error)
            else:
                self._refusals.raised(noted, error, sys._getframe(2))
            raise
        finally:
            session.here.within.remove(ending.id)
        ending.rules = tuple(rules)
        self._end(ending, out_ct, result)
        for outer in session.here.linearising:
            if outer.is_staged == noted.is_staged:
                outer.inner.append(ending)
        return result

    def _through(self, ending: Ending, pull: Any, out_ct: Any) -> bool:
        """What the rules of JAX would have returned: where the NaN comes from is seen at the end of them."""
        if ending.of.is_staged or any(piece.kind == "custom_vjp" for piece in ending.of.pieces):
            return False
        ending.backward = JaxCollection()
        try:
            with lenient(), self._session.recording(ending.backward):
                result = pull()
        except Exception:
            self._session.note_failure()
            return False
        self._end(ending, out_ct, result)
        return True

    def _lifted(self, original: Any, jaxpr: Any, *rest: Any) -> Any:
        """What `linearize` returned is called: forward mode, with the function gone through before."""
        session = self._session
        noted = None if session.here.quiet else self._linearised.get(jaxpr)
        if noted is None or noted.is_staged == is_executing():
            return original(jaxpr, *rest)
        ending = Ending(
            next(numbers), noted, asked_by(sys._getframe(2), noted.asked.function), (), (), JaxCollection()
        )
        ending.is_forward = True
        with equations_into(ending.own) if noted.is_staged else session.recording(ending.backward):
            result = original(jaxpr, *rest)
        tangents = rest[4:]
        self._end(ending, tangents, result)
        return result

    def _end(self, ending: Ending, out_ct: Any, result: Any) -> None:
        session = self._session
        try:
            ending.weights = tuple(bottom(x) for x in tree_util.tree_leaves(out_ct))
            ending.results = tuple(bottom(x) for x in tree_util.tree_leaves(result))
        except UnreadableTracer:
            return
        except Exception:
            session.note_failure()
            return
        if ending.of.is_staged:
            self._compiled.note(ending)
        else:
            self._checks.deliver(ending)


def _as_python_has_it(noted: Linearisation, result: Any) -> Any:
    """What was computed with Python numbers, as it is without us: no array of ours takes the place of one."""
    if not noted.plain and not noted.made:
        return result

    def own(x: Any) -> Any:
        return noted.plain.get(id(x), plain(x, noted.made))

    for k, part in enumerate(result):
        if hasattr(part, "vals"):
            part.vals = tuple(map(own, part.vals))
        elif k >= N_LINEARISED:
            result = (*result[:k], tree_util.tree_map(own, part), *result[k + 1 :])
    return result
