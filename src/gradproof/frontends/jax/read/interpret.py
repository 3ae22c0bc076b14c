"""A jaxpr run op by op: calls are inlined, loops unrolled with the counts they had, branches taken as they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax._src import core

from gradproof.clock import tick
from gradproof.errors import GradproofError
from gradproof.frontends.jax.kernels import PRIMITIVE
from gradproof.frontends.jax.lower import TABLE
from gradproof.frontends.jax.lower.library import ANY_NUMBER, PREFIX, known_function
from gradproof.frontends.jax.observe.effects import SAID, require_harmless
from gradproof.frontends.jax.observe.trace import numbers
from gradproof.frontends.jax.observe.twin import apart, twin
from gradproof.frontends.jax.read.devices import shard_map, without_mesh
from gradproof.frontends.jax.read.inlined import INLINED, opened
from gradproof.frontends.jax.read.inside import Inside
from gradproof.frontends.jax.read.loops import cond, linear_solve, scan, while_loop
from gradproof.frontends.jax.read.regions import MARK
from gradproof.frontends.jax.read.roots import ROOT, root_in
from gradproof.frontends.jax.read.values import Values
from gradproof.frontends.jax.read.where import Where, here_of
from gradproof.frontends.jax.read.written_out import (
    of_a_library,
    ragged_product,
    reduction,
    window_reduction,
    written_out,
)
from gradproof.frontends.record.model import RETURN_OP, OpEvent, Value

PLAIN_NUMBERS = (
    "`{name}` was given a plain Python number, and Python computed with it where JAX sees nothing; pass an array, as "
    "`jnp.float32(...)`, and it can be judged"
)
MOST_EVENTS = 200_000  # a program with more ops is not judged, and says so

Bodies = Callable[["JaxprInterpreter", Any, list[Value], Where], list[Value]]


class SeenEnough(Exception):
    """What is awaited was computed: the rest of a loop tells nothing more."""


class JaxprInterpreter:
    """Collects op events; `seen` holds, for every variable of a jaxpr, the values it had, one per turn.

    `twins` are the values inside of what is cut out, by those outside; `makers` the events by what they made;
    `everywhere` the values that a variable had on several devices, `is_typed` if types say who shares them.
    """

    def __init__(
        self, values: Values, inside: Inside | None = None, awaited: frozenset[Any] = frozenset()
    ) -> None:
        self.values = values
        self._awaited = awaited
        self.twins: dict[int, Value] = {}
        self._inside = inside or Inside()
        self.events: list[OpEvent] = []
        self.seen: dict[Any, list[Value]] = {}
        self.everywhere: dict[Any, tuple[Value, ...]] = {}
        self.is_typed = True
        self.makers: dict[int, OpEvent] = {}

    def end_turn(self) -> None:
        """A loop need not go on once a turn has computed all that is looked at."""
        if self._awaited and all(var in self.seen for var in self._awaited):
            raise SeenEnough

    def emit(
        self,
        op: str,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        attrs: dict[str, Any],
        where: Where,
        index: int | None = None,
    ) -> None:
        if len(self.events) >= MOST_EVENTS:
            raise GradproofError(f"the program has more than {MOST_EVENTS:,} ops, and is not judged")
        if where.region is not None and not where.is_transposed:
            attrs = {**attrs, MARK: where.region}
        # Gradients are added up in no line of the program: it happens for the lines that they come from.
        made_by = (self.makers[one.id] for one in inputs if one.id in self.makers)
        stack = where.stack or next((event.stack for event in made_by if event.stack), ())
        event = OpEvent(
            next(numbers) if index is None else index,
            op,
            tuple(inputs),
            tuple(outputs),
            attrs,
            stack[0] if stack else None,
            stack,
            where.phase,
            within=where.within,
            scope=where.scope,
            pullback=where.pullback,
            loop=where.loop,
            call=where.call,
        )
        self.events.append(event)
        self.makers.update((one.id, event) for one in outputs)

    def execute(
        self,
        primitive: Any,
        params: Any,
        inputs: Sequence[Value],
        outputs: Sequence[Any] | None,
        where: Where,
    ) -> list[Value]:
        """One equation: `outputs` are the arrays that it returned in the user's run, None where it is run here."""
        body = BODIES.get(primitive.name)
        if body is None and primitive.name not in TABLE and isinstance(primitive, core.Primitive):
            body = self._of_a_library(primitive, params, inputs)
        if body is not None:
            results = body(self, params, list(inputs), where)
            if outputs is not None:
                inner, results = results, [self.values.of(array) for array in outputs]
                for own, result in zip(inner, results, strict=True):
                    self.emit(RETURN_OP, [own], [result], {}, where)
            self._know(_described(params), inputs, results, where, params.get("jvp_jaxpr_fun"))
            return results
        if primitive.name == "gradproof.call":
            results = [self.values.of(array) for array in outputs or ()]
            is_known = self._know(params["function"], inputs, results, where, params["rule"])
            if not is_known and not params["is_heard"]:
                raise GradproofError(PLAIN_NUMBERS.format(name=params["name"]))
            return results
        if outputs is None and primitive.name in SAID:
            return []
        if outputs is None:
            tick()
            require_harmless(primitive.name, params)
            own = primitive.get_bind_params(without_mesh(params))
            made = primitive.bind(*map(self.values.array, inputs), **own)
            arrays = [self.values.array(value) for value in inputs]
            outputs = apart(list(made) if primitive.multiple_results else [made], arrays)
            results = [self.values.new(array) for array in outputs]
        else:
            results = [self.values.of(array) for array in outputs]
        self.emit(primitive.name, inputs, results, {**params, PRIMITIVE: primitive}, where)
        return results

    def _of_a_library(self, primitive: Any, params: Any, inputs: Sequence[Value]) -> Bodies | None:
        closed = of_a_library(primitive, params, [self.values.array(value) for value in inputs])
        return None if closed is None else lambda run, _, given, where: run.run_closed(closed, given, where)

    def _know(
        self, described: Any, inputs: Sequence[Value], results: Sequence[Value], where: Where, rule: Any
    ) -> bool:
        """Whether it is a function of the library that has a meaning as a whole, which stands for its first results.

        Behind them there may be slopes for the backward pass. Transposed, it has the same name and is something else.
        """
        known = None if described is None else known_function(described)
        if known is None or where.is_transposed or len(results) < known.n_outputs:
            return False
        if known.name == ROOT and self._solve(inputs, results, where, rule):
            return True
        if known.n_inputs not in (len(inputs), ANY_NUMBER):
            return False
        op = PREFIX + known.name
        is_listed = op in TABLE
        name = op if is_listed else known.name.strip("_")
        self.emit(name, inputs, results[: known.n_outputs], {}, where)
        return is_listed

    def _solve(self, inputs: Sequence[Value], results: Sequence[Value], where: Where, rule: Any) -> bool:
        """Whether what was found is the root of an equation: it is known by that, then."""
        root = root_in(rule)
        arrays = [[self.values.array(one) for one in group] for group in (inputs, results)]
        closed = None if root is None else root.solved(*arrays)
        if root is None or closed is None:
            return False
        found = [self.values.new(twin(self.values.array(one))) for one in results]
        given = [*inputs[: root.n_own], *found[: len(closed.jaxpr.outvars)]]
        for own, result in zip(self.run_closed(closed, given, where), results):
            self.emit(RETURN_OP, [own], [result], {}, where)
        return True

    def _told_apart(self, variables: Sequence[Any], given: Sequence[Value], where: Where) -> list[Value]:
        """What is differentiated for is one argument, though the same array may be another, too, or a constant."""
        found = list(given)
        if self._inside.sources.isdisjoint(variables):
            return found
        for k, value in enumerate(given):
            if sum(one.id == value.id for one in given) > 1:
                found[k] = self.values.new(twin(self.values.array(value)))
                self.emit("copy", [value], [found[k]], {}, where)
        return found

    def run(self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Value], where: Where) -> list[Value]:
        """The results of an open jaxpr."""
        env: dict[Any, Value] = {}

        def bind(var: Any, value: Value) -> None:
            env[var] = value
            self.see(var, value, where)

        variables = (*jaxpr.constvars, *jaxpr.invars)
        given = (*(self.values.of(const) for const in consts), *inputs)
        for var, value in zip(variables, self._told_apart(variables, given, where), strict=True):
            bind(var, value)

        def read(atom: Any) -> Value:
            return self.literal(atom, where) if isinstance(atom, core.Literal) else env[atom]

        for equation in jaxpr.eqns:
            own = self.inside(equation, [read(atom) for atom in equation.invars])
            with equation.ctx.manager:
                results = self.execute(
                    equation.primitive, equation.params, own, None, here_of(equation, where)
                )
            for var, value in zip(equation.outvars, results, strict=True):
                bind(var, value)
        return [read(atom) for atom in jaxpr.outvars]

    def see(self, var: Any, value: Value, where: Where) -> None:
        """A variable has a value."""
        self.seen.setdefault(var, []).append(value)
        if var in self._inside.sources:
            self._set_apart(value, where)

    def _set_apart(self, value: Value, where: Where) -> None:
        """What is differentiated for is another value inside of the function."""
        if value.id not in self.twins:
            self.twins[value.id] = self.values.new(twin(self.values.array(value)))
            self.emit("copy", [value], [self.twins[value.id]], {}, where)

    def inside(self, equation: Any, inputs: Sequence[Value]) -> list[Value]:
        """What an equation takes, if it is a part of the function that is differentiated."""
        constants = self._inside.constants_of(equation)
        if constants is None:
            return list(inputs)
        return [x if k in constants else self.twins.get(x.id, x) for k, x in enumerate(inputs)]

    def literal(self, atom: Any, where: Where) -> Value:
        """A constant. What was known while tracing is written into the jaxpr as the very object that it was: the
        gradient that a rule is given, or a Python number that a loop computes with."""
        number = atom.val
        folded = None if self.values.knows(number) else self._inside.folded_into(number)
        if folded is not None:
            given = [self.values.of(one) for one in folded.operands]
            operands = [self.twins.get(one.id, one) for one in given]
            self.execute(folded.primitive, folded.params, operands, [number], where)
        is_same = getattr(number, "dtype", None) == atom.aval.dtype
        return (
            self.values.of(number) if is_same else self.values.new(np.asarray(number, dtype=atom.aval.dtype))
        )

    def run_whole(self, closed: Any, inputs: Sequence[Value], where: Where) -> list[Value]:
        """A program from its beginning, in which arrays that were there before it may be differentiated for."""
        for array in self._inside.arrays:
            self._set_apart(self.values.of(array), where)
        return self.run_closed(closed, inputs, where)

    def run_closed(self, closed: Any, inputs: Sequence[Value], where: Where) -> list[Value]:
        return self.run(closed.jaxpr, closed.consts, inputs, where)


def _described(params: Any) -> str | None:
    """The function that a body was traced from, as JAX describes it."""
    jaxpr = params.get("jaxpr", params.get("call_jaxpr"))
    information = getattr(getattr(jaxpr, "jaxpr", jaxpr), "debug_info", None)
    return None if information is None else str(information.func_src_info)


def _inline(key: str) -> Bodies:
    def body(run: JaxprInterpreter, params: Any, inputs: list[Value], where: Where) -> list[Value]:
        return run.run(*opened(params[key]), inputs, where)

    return body


BODIES: dict[str, Bodies] = {
    **{name: _inline(key) for name, key in INLINED.items()},
    "scan": scan,
    "while": while_loop,
    "cond": cond,
    "custom_linear_solve": linear_solve,
    "shard_map": shard_map,
    "reduce": written_out(reduction),
    "reduce_window": written_out(window_reduction),
    "ragged_dot_general": written_out(ragged_product),
}
"""Primitives that have jaxprs inside, by their names."""
