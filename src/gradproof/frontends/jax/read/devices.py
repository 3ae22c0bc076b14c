"""A function that several devices run together: step by step on all of them, with what they tell each other.

A value is one per device. Where JAX's types say that devices share it, they have the same one; where it varies, each
has its own. What JAX differentiates inside of such a function is the sum of what the devices compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import lax
from jax._src import core
from jax._src.mesh import empty_abstract_mesh, use_abstract_mesh
from jax.sharding import NamedSharding

from gradproof.errors import GradproofError
from gradproof.frontends.jax.observe.notes import Ending
from gradproof.frontends.jax.observe.peel import Bottom
from gradproof.frontends.jax.observe.twin import twin
from gradproof.frontends.jax.read.inlined import INLINED, opened
from gradproof.frontends.jax.read.loops import row_of, stacked
from gradproof.frontends.jax.read.mesh import Copies, Devices, cut_up, put_together
from gradproof.frontends.jax.read.told import TOLD
from gradproof.frontends.jax.read.where import Where, here_of
from gradproof.frontends.record.model import Value

if TYPE_CHECKING:
    from gradproof.frontends.jax.read.interpret import JaxprInterpreter

NOT_COMPILED = (
    "`shard_map` ran without `jit`, on each device by itself, where nobody hears it; in `jit` it is judged"
)
NOT_FOLLOWED = "what `{name}` does among several devices is not followed"
SHARED_BY_DEVICES = (
    "what is differentiated for comes from outside a map over several devices, each of which returns a gradient of its "
    "own; pass it to the function that is mapped, and it is judged"
)
UNEQUAL = "inside a map over several devices, only gradients of the sum of what they compute are judged"


def shard_map(run: JaxprInterpreter, params: Any, inputs: list[Value], where: Where) -> list[Value]:
    """Arguments are cut up as their specifications say, and results put together again."""
    if "jaxpr" not in params:
        raise GradproofError(NOT_COMPILED)
    mesh = params["mesh"]
    names = tuple(axis for axis in mesh.axis_names if axis in params["newly_manual_axes"])
    devices = Devices(names, tuple(mesh.shape[axis] for axis in names), params["check_vma"])
    cut = [cut_up(run, x, spec, devices, where) for x, spec in zip(inputs, params["in_specs"], strict=True)]
    run.is_typed = devices.is_typed
    made = _Together(run, devices).run(params["jaxpr"], (), cut, where)
    return [
        put_together(run, copies, spec, devices, where)
        for copies, spec in zip(made, params["out_specs"], strict=True)
    ]


class _Together:
    """Runs a jaxpr on all devices at once."""

    def __init__(self, run: JaxprInterpreter, devices: Devices) -> None:
        self._run, self._devices = run, devices

    def run(self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Copies], where: Where) -> list[Copies]:
        run, env, n_devices = self._run, dict[Any, Copies](), len(self._devices.coordinates)

        def bind(var: Any, copies: Sequence[Value]) -> None:
            env[var] = self._told_apart(var.aval, copies, where)
            run.everywhere.setdefault(var, env[var])
            run.see(var, env[var][0], where)

        def read(atom: Any) -> Copies:
            return (self._literal(atom, where),) * n_devices if isinstance(atom, core.Literal) else env[atom]

        given = (*((run.values.of(const),) * n_devices for const in consts), *inputs)
        for var, copies in zip((*jaxpr.constvars, *jaxpr.invars), given, strict=True):
            bind(var, copies)
        for equation in jaxpr.eqns:
            rows = list(zip(*map(read, equation.invars))) or [()] * n_devices
            rows = [tuple(run.inside(equation, row)) for row in rows]
            with (
                equation.ctx.manager,
                use_abstract_mesh(empty_abstract_mesh),
            ):  # each part is a whole array here
                results = self._equation(equation, rows, here_of(equation, where))
            for var, copies in zip(equation.outvars, zip(*results), strict=True):
                bind(var, copies)
        return [read(atom) for atom in jaxpr.outvars]

    def _literal(self, atom: Any, where: Where) -> Value:
        sharding = getattr(core.typeof(atom.val), "sharding", None)
        if sharding is None or not sharding.mesh.manual_axes:
            return self._run.literal(atom, where)
        return self._run.values.new(np.asarray(atom.val))

    def _told_apart(self, aval: Any, copies: Sequence[Value], where: Where) -> Copies:
        """What varies from device to device is another value on each, even where the numbers are the same."""
        owners: dict[int, tuple[int, ...]] = {}
        known: dict[tuple[int, tuple[int, ...]], Value] = {}
        found = []
        for value, owner in zip(copies, self._devices.own(aval)):
            if owners.setdefault(value.id, owner) == owner:
                known[value.id, owner] = value
            elif (value.id, owner) not in known:
                other = self._run.values.new(twin(self._run.values.array(value)))
                self._run.emit("copy", [value], [other], {}, where)
                known[value.id, owner] = other
            found.append(known[value.id, owner])
        return tuple(found)

    def _equation(
        self, equation: Any, rows: list[tuple[Value, ...]], where: Where
    ) -> list[tuple[Value, ...]]:
        """The results of one equation, device by device."""
        name, params = equation.primitive.name, equation.params
        if name in TOLD:
            return self._told(name, params, rows, where)
        if not _is_talking(equation):
            known: dict[tuple[int, ...], tuple[Value, ...]] = {}
            for row in rows:
                key = tuple(value.id for value in row)
                if key not in known:
                    known[key] = tuple(self._run.execute(equation.primitive, params, row, None, where))
            return [known[tuple(value.id for value in row)] for row in rows]
        columns = list(zip(*rows))
        if name == "scan":
            return self._scan(params, columns, where)
        if name not in INLINED:
            raise GradproofError(NOT_FOLLOWED.format(name=name))
        return list(zip(*self.run(*opened(params[INLINED[name]]), columns, where)))

    def _told(
        self, name: str, params: Any, rows: list[tuple[Value, ...]], where: Where
    ) -> list[tuple[Value, ...]]:
        """What devices tell each other is written out as a function of what all of them have."""
        if params.get("axis_index_groups") is not None:
            raise GradproofError(NOT_FOLLOWED.format(name=name))
        axes = params.get("axes", params.get("axis_name", ()))
        axes = axes if isinstance(axes, tuple) else (axes,)
        if not set(axes) <= set(self._devices.names):
            raise GradproofError(NOT_FOLLOWED.format(name=name))
        results: dict[int, tuple[Value, ...]] = {}
        for group in self._devices.groups(axes):
            columns = []
            for parts in zip(*(rows[k] for k in group)) if rows[0] else [()]:
                columns.append(self._column(name, params, len(group), parts, where))
            results.update(zip(group, zip(*columns)))
        return [results[k] for k in range(len(rows))]

    def _column(self, name: str, params: Any, n: int, parts: Sequence[Value], where: Where) -> list[Value]:
        def function(*xs: Any) -> list[Any]:
            made = TOLD[name](params, xs or range(n))
            return list(made) if isinstance(made, list) else [made] * n

        arrays = [self._run.values.array(value) for value in parts]
        return self._run.run_closed(jax.make_jaxpr(function)(*arrays), parts, where)

    def _scan(self, params: Any, inputs: list[Copies], where: Where) -> list[tuple[Value, ...]]:
        run, closed = self._run, params["jaxpr"]
        n_consts, n_carry, length = params["num_consts"], params["num_carry"], params["length"]
        consts, carry, xs = inputs[:n_consts], inputs[n_consts:][:n_carry], inputs[n_consts + n_carry :]
        turns = range(length - 1, -1, -1) if params["reverse"] else range(length)
        columns: list[dict[int, Copies]] = [{} for _ in closed.out_avals[n_carry:]]
        for turn in turns:
            here = replace(where, loop=(*where.loop, turn))
            slices = [tuple(row_of(run, x, turn, here) for x in copies) for copies in xs]
            results = self.run(closed.jaxpr, closed.consts, [*consts, *carry, *slices], here)
            carry = results[:n_carry]
            for column, copies in zip(columns, results[n_carry:]):
                column[turn] = copies
            run.end_turn()
        n_devices, avals = len(self._devices.coordinates), closed.out_avals[n_carry:]
        ends = [
            tuple(
                stacked(run, {turn: copies[k] for turn, copies in column.items()}, aval, where)
                for k in range(n_devices)
            )
            for column, aval in zip(columns, avals)
        ]
        return list(zip(*carry, *ends)) if carry or ends else [()] * n_devices


def _is_talking(equation: Any) -> bool:
    """Whether devices tell each other something inside of it."""
    return equation.primitive.name == "shard_map" or any(
        inner.primitive.name in TOLD or _is_talking(inner)
        for jaxpr in core.jaxprs_in_params(equation.params)
        for inner in jaxpr.eqns
    )


def without_mesh(params: Any) -> dict[str, Any]:
    """The parameters of a step for the part of one device, which is a whole array here."""
    return {
        name: None if isinstance(one, NamedSharding) and one.mesh.manual_axes else one
        for name, one in params.items()
    }


def is_mapped(linear: Any) -> bool:
    """Whether a part of a derivative runs on several devices: alone, out of `jit`, nobody would hear it."""
    return linear is not None and any(equation.primitive.name == "shard_map" for equation in linear.eqns)


def total_of(
    run: JaxprInterpreter, ending: Ending, targets: tuple[Value, ...], where: Where
) -> tuple[Value, ...]:
    """What is differentiated: of what several devices compute, the sum; their weights have to be the same."""
    copies = [_copies(run, one) for one in ending.of.targets]
    if all(len(one) < 2 for one in copies):
        return targets
    if not run.is_typed and not all(_copies(run, one) for one in ending.of.sources):
        raise GradproofError(SHARED_BY_DEVICES)
    if ending.is_forward or not all(_are_equal(run, _copies(run, one)) for one in ending.weights):
        raise GradproofError(UNEQUAL)
    return tuple(
        reduce(lambda a, b: run.execute(lax.add_p, {}, [a, b], None, where)[0], several or [target])
        for several, target in zip(copies, targets)
    )


def _copies(run: JaxprInterpreter, one: Bottom) -> list[Value]:
    """The different values that a variable had on the devices."""
    found = run.everywhere.get(one.value, ()) if one.is_staged else ()
    return list({value.id: value for value in found}.values())


def _are_equal(run: JaxprInterpreter, values: Sequence[Value]) -> bool:
    arrays = [np.asarray(run.values.array(value)) for value in values]
    return all(np.array_equal(arrays[0], array) for array in arrays)
