"""Derivatives inside compiled functions: noted while tracing, read when the function has run.

A jaxpr says which variables hold sources, targets and gradients; the numbers come from running it op by op on the
arguments of one execution, and what was returned is what the user's own compiled function returned.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from jax._src import api, core, pjit

from gradproof.frontends.frozen.outside_reads import Read, reads_of
from gradproof.frontends.frozen.random_numbers import drawn_from, states_of
from gradproof.frontends.jax.observe.asked import function_name
from gradproof.frontends.jax.observe.batched import heard, is_batched_only
from gradproof.frontends.jax.observe.effects import is_noticed
from gradproof.frontends.jax.observe.frozen import drawn_once, frozen_in, reads_now, unwrapped, with_objects
from gradproof.frontends.jax.observe.notes import Ending, Execution
from gradproof.frontends.jax.observe.peel import bottom, ground
from gradproof.frontends.jax.observe.session import JaxSession
from gradproof.frontends.jax.observe.trace import numbers
from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.sites import Site
from gradproof.frontends.record.source import Place, is_users, user_places
from gradproof.ir.surroundings import Baked

MOST_PENDING = 1_000  # notes of functions that were traced and never run
# The gradient calls in a jaxpr, as long as JAX keeps it: it is not traced again for whoever watches later.
_KNOWN: WeakKeyDictionary[Any, tuple[Ending, ...]] = WeakKeyDictionary()


@dataclass(eq=False)
class _Compiled:
    """A compiled function that computes gradients."""

    endings: tuple[Ending, ...]
    function: Any  # a weak reference to the Python function
    sites: tuple[Site, ...] = ()


class CompiledFunctions:
    """The hooks on `jit`."""

    def __init__(self, session: JaxSession) -> None:
        self._session = session
        self._pending: deque[Ending] = deque(maxlen=MOST_PENDING)
        self._reads: WeakKeyDictionary[Any, tuple[Read, ...]] = WeakKeyDictionary()
        self._drawn: WeakKeyDictionary[Any, tuple[Read, ...]] = WeakKeyDictionary()
        self._by_function: dict[int, _Compiled] = {}
        self._found: set[str] = set()
        self._last = threading.local()
        self._hook_before: Any = None
        self._counting = False

    def note(self, ending: Ending) -> None:
        """A gradient call that was traced."""
        self._pending.append(ending)

    def patches(self) -> list[Patch]:
        return [
            wrap(pjit, "_trace_for_jit", self._trace),
            wrap(pjit, "_run_python_pjit", self._run),
            wrap(pjit, "_get_fastpath_data", self._fast_path),
        ]

    def close(self) -> None:
        if self._counting and api._post_hook_state.value == self._count:
            api._post_hook_state.set_global(self._hook_before)

    def _trace(self, original: Any, fun: Any, *rest: Any) -> Any:
        """Random numbers that Python draws now are constants of the jaxpr."""
        if self._session.here.quiet:
            return original(fun, *rest)
        try:
            *_, given, named = rest
            states = states_of(reads_of(unwrapped(with_objects(fun, given, named))))
        except Exception:
            self._session.note_failure()
            states = {}
        traced = original(fun, *rest)
        try:
            drawn = tuple(drawn_from(states))
            if drawn:
                self._drawn[traced.params["jaxpr"]] = drawn
        except Exception:
            self._session.note_failure()
        return traced

    def _run(self, original: Any, p: Any, args: Any, fun: Any, *rest: Any) -> Any:
        session = self._session
        if session.here.quiet or not isinstance(ground(core.trace_ctx.trace), core.EvalTrace):
            return original(p, args, fun, *rest)
        session.narrowed.look_at(args, sys._getframe(2))
        compiled = self._begin(p, args, fun, sys._getframe(2), rest)
        if compiled is None:
            return original(p, args, fun, *rest)
        state, execution = compiled
        try:
            result = original(p, args, fun, *rest)
        except FloatingPointError as error:  # by `jax_debug_nans`, which runs the function once more op by op
            if not session.is_told(error):
                self._deliver(state, execution)
            raise
        if execution is not None and is_batched_only(args):
            self._deliver_batched(state, execution, args, result[1])
        elif execution is not None:
            execution.outputs = tuple(bottom(one).value for one in result[1])
            self._deliver(state, execution)
        self._last.compiled = state
        return result

    def _deliver(self, state: _Compiled, execution: Execution | None) -> None:
        for ending in () if execution is None else state.endings:
            self._session.deliver(replace(ending, id=next(numbers), execution=execution))

    def _deliver_batched(self, state: _Compiled, execution: Execution, args: Any, outputs: Any) -> None:
        try:
            for ending in state.endings:
                self._session.deliver(heard(self._session, ending, execution, args, outputs))
        except Exception:
            self._session.note_failure()

    def lost(self) -> list[str]:
        """What was differentiated while tracing, by name, and is in nothing that ran: libraries may rewrite a jaxpr."""
        names = dict.fromkeys(map(_named, self._pending))
        return [name for name in names if name not in self._found]

    def unfinished(self, codes: set[Any]) -> list[Ending]:
        """Gradient calls in functions whose tracing has ended with an exception, by the functions it went through."""
        return [
            ending for ending in self._pending if ending.asked.places and ending.asked.places[0][0] in codes
        ]

    def _begin(
        self, p: Any, args: Any, fun: Any, frame: Any, rest: Sequence[Any]
    ) -> tuple[_Compiled, Execution | None] | None:
        try:
            jaxpr = p.params["jaxpr"]
            endings, name = self._endings(jaxpr), function_name(unwrapped(fun))
            reading = with_objects(fun, *rest)
            if not endings:
                self._look_at_frozen(jaxpr, reading, name, frame)
                return None
            places = user_places(frame)
            found = [self._session.sites.begin(_site(ending, places)) for ending in endings]
            state = _Compiled(endings, ref(fun), tuple(site for site, _ in found))
            self._by_function[id(fun)] = state
            if not any(wanted for _, wanted in found):
                return state, None
            given = tuple(map(bottom, args))  # it may itself be a part of what is differentiated
            is_batched = any(one.batch_axes for one in given)
            if is_batched and (not is_batched_only(args) or is_noticed(jaxpr.jaxpr)):
                return state, None
            donated = p.params["donated_invars"]
            kept = tuple(
                np.array(one.value, copy=True) if given_away else one.value
                for one, given_away in zip(given, donated)
            )
            execution = Execution(jaxpr, kept, (), places, name, state.sites[0].executions)
            functions = (reading, *(ending.of.asked.function for ending in endings))
            execution.frozen = self._frozen(jaxpr, name, functions)
            return state, execution
        except Exception:
            self._session.note_failure()
            return None

    def _look_at_frozen(self, jaxpr: Any, fun: Any, name: str, frame: Any) -> None:
        """A function that computes no gradient itself, and may be a part of one that is differentiated."""
        around = self._session.here.linearising
        if jaxpr in self._reads and not around:
            return
        frozen = self._frozen(jaxpr, name, (fun,))
        for noted in around if frozen else ():
            noted.compiled.append(Execution(jaxpr, (), (), user_places(frame), name, frozen=frozen))

    def _frozen(self, jaxpr: Any, name: str, functions: tuple[Any, ...]) -> tuple[Baked, ...]:
        """What has changed since the jaxpr was traced; at its first run, what it was traced with is kept."""
        if jaxpr in self._reads:
            drawn = drawn_once(name, self._drawn.get(jaxpr, ()))
            return (*frozen_in(jaxpr, name, self._reads[jaxpr]), *drawn)
        self._reads[jaxpr] = reads_now(functions)
        return ()

    def _endings(self, jaxpr: Any) -> tuple[Ending, ...]:
        """The gradient calls that were noted while this jaxpr, or one inside of it, was traced."""
        known = _KNOWN.get(jaxpr)
        if known is not None:
            return known
        found: list[Ending] = []
        if self._pending:
            variables = set(variables_in(jaxpr.jaxpr))
            found = [ending for ending in self._pending if _is_in(ending, variables)]
            for ending in found:
                self._pending.remove(ending)
                self._found.add(_named(ending))
        _KNOWN[jaxpr] = tuple(found)
        return tuple(found)

    def _fast_path(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """No short cut around us while the next execution is to be looked at."""
        if self._session.here.quiet:
            return original(*args, **kwargs)
        compiled, self._last.compiled = getattr(self._last, "compiled", None), None
        if compiled is None:
            return original(*args, **kwargs)
        if any(self._session.sites.wants_next(site) for site in compiled.sites):
            return None
        self._start_counting()
        return original(*args, **kwargs)

    def _start_counting(self) -> None:
        """JAX tells of every call on the short cut, and this is how executions are counted there."""
        if not self._counting:
            self._counting = True
            self._hook_before = api._post_hook_state.value
            api._post_hook_state.set_global(self._count)

    def _count(self, fun: Any, args: Any, kwargs: Any, output: Any) -> None:
        if self._hook_before is not None:
            self._hook_before(fun, args, kwargs, output)
        inner = getattr(fun, "_fun", None)
        compiled = self._by_function.get(id(inner))
        if compiled is None or compiled.function() is not inner:
            return
        is_wanted = False
        for site in compiled.sites:
            if not site.pass_by():
                is_wanted = self._session.sites.skip(site) or is_wanted
        if is_wanted:
            fun._clear_cache()


def _named(ending: Ending) -> str:
    function = unwrapped(ending.of.asked.function)
    code = getattr(function, "__code__", None)
    is_own = code is not None and is_users(code.co_filename)
    return f"`{function_name(function)}`" if is_own else "what a library differentiates"


def _site(ending: Ending, places: tuple[Place, ...]) -> Any:
    own = ending.asked.places or places
    return own[0] if own else (None, 0)


def _is_in(ending: Ending, variables: set[Any]) -> bool:
    """Whether all that a gradient call was made of belongs to one jaxpr; a source may be a constant of it."""
    ends = [*ending.of.targets, *ending.results]
    return any(one.is_staged for one in ends) and all(one.value in variables for one in ends if one.is_staged)


def variables_in(jaxpr: Any) -> Iterator[Any]:
    """All variables of a jaxpr and of those inside of it."""
    yield from jaxpr.constvars
    yield from jaxpr.invars
    for equation in jaxpr.eqns:
        yield from equation.outvars
        for inner in core.jaxprs_in_params(equation.params):
            yield from variables_in(inner)
