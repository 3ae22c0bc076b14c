"""The rules of a captured gradient call that can be tried alone, and the mistakes found in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.capture import Capture, Pullback, Scope
from gradproof.ir.program import Node, Program, behind_copies, descendants
from gradproof.ir.shapes import joint_shape
from gradproof.judge.blame import Departure, measured_departures
from gradproof.judge.mistake import Mistake, find_mistakes
from gradproof.judge.rule import HandWrittenRule, needed, read
from gradproof.options import Options


@dataclass(frozen=True, eq=False)
class CustomFault:
    """A custom gradient that is not the derivative of its forward, and the mistake that explains it."""

    scope: Scope
    mistake: Mistake

    @property
    def is_summed(self) -> bool:
        """Whether the rule was given an argument more than once."""
        return len(set(self.scope.inputs)) < len(self.scope.inputs)


@dataclass(frozen=True, eq=False)
class LibraryFault:
    """A rule of the framework that is not the derivative, with the mistake that explains it, if one does."""

    departure: Departure
    mistake: Mistake | None

    @property
    def is_intended(self) -> bool:
        return self.mistake is not None and self.mistake.is_intended


def library_faults(
    program: Program, found: Iterable[Departure], options: Options
) -> tuple[LibraryFault, ...]:
    """What is wrong with the framework's own rules, the one that is furthest off first."""
    ordered = sorted(found, key=lambda departure: -departure.relative_error)
    return tuple(LibraryFault(departure, _explained(program, departure, options)) for departure in ordered)


def _explained(program: Program, departure: Departure, options: Options) -> Mistake | None:
    rule = rule_of_pullback(program, departure.pullback)
    mistakes = [] if rule is None else find_mistakes(rule, options)
    asked = behind_copies(program, departure.input)
    return next((m for m in mistakes if m.rule.inputs[m.input] == asked), None)


def custom_faults(capture: Capture, reaching: Iterable[int], options: Options) -> tuple[CustomFault, ...]:
    """The mistakes of all custom gradients whose results went into `reaching`."""
    return _faults(
        capture, reaching, lambda rule: find_mistakes(rule, options) or _measured_mistakes(rule, options)
    )


def _measured_mistakes(rule: HandWrittenRule, options: Options) -> list[Mistake]:
    """The same for a forward without an exact meaning, as one in NumPy: only that it differs can be told."""
    if not rule.upstream or not any(node.is_opaque for node in rule.forward.nodes):
        return []
    pullback = Pullback(rule.name, rule.inputs, rule.outputs, rule.upstream, rule.results)
    found = []
    for departure in measured_departures(rule.program, pullback, options):
        meant, true = departure.meant.mid, departure.true.mid
        off = np.abs(meant - true)
        worst = tuple(int(k) for k in np.unravel_index(int(np.argmax(off)), off.shape))
        i = rule.inputs.index(departure.input)
        found.append(Mistake("other", rule, i, meant, true, worst, is_measured=True))
    return found


def nonfinite_faults(capture: Capture, reaching: Iterable[int]) -> tuple[CustomFault, ...]:
    """Custom gradients that turned finite numbers into NaN or infinity."""
    return _faults(capture, reaching, _not_finite)


def _not_finite(rule: HandWrittenRule) -> list[Mistake]:
    """Inputs for which a rule returned NaN or infinity, though what it was given and the derivative are finite."""
    given = [rule.program[id].value for id in (*rule.inputs, *rule.upstream)]
    bad = [
        None if id is None else np.argwhere(~np.isfinite(np.asarray(rule.program[id].value)))
        for id in rule.results
    ]
    if not any(one is not None and len(one) for one in bad) or not all(np.isfinite(x).all() for x in given):
        return []
    try:
        here = read(rule, rule.here, exact=True)
    except GradproofError:
        return []
    found = []
    for i, (places, true) in enumerate(zip(bad, here.true)):
        if places is not None and len(places) and true.is_bounded and bool(np.isfinite(true.mid).all()):
            result = rule.results[i]
            assert result is not None
            meant = np.asarray(rule.program[result].value, np.float64)
            found.append(Mistake("not finite", rule, i, meant, true.mid, tuple(int(k) for k in places[0])))
    return found


def _faults(
    capture: Capture, reaching: Iterable[int], mistakes_of: Callable[[HandWrittenRule], list[Mistake]]
) -> tuple[CustomFault, ...]:
    program, reaching = capture.gradient_program, set(reaching)
    if program is None:
        return ()
    found = []
    for scope in capture.rules.scopes:
        rule = rule_of(program, scope) if reaching & set(scope.results or ()) else None
        for mistake in () if rule is None else mistakes_of(rule):
            parts = {r for x, r in zip(scope.inputs, scope.results or ()) if _is_for(mistake, program, x)}
            if parts & reaching:
                found.append(CustomFault(scope, mistake))
    return tuple(fault for fault in found if not _follows(fault, found))


def _is_for(mistake: Mistake, program: Program, input: int) -> bool:
    return behind_copies(program, input) == mistake.rule.inputs[mistake.input]


def none_faults(capture: Capture, source: int) -> tuple[CustomFault, ...]:
    """Custom gradients that return None for an argument which leads from the source, and has a slope."""
    program = capture.gradient_program
    if program is None:
        return ()
    found = []
    reached = descendants(program, [source])
    for scope in capture.rules.scopes:
        rule = rule_of(program, scope) if scope.nothing_for else None
        if rule is not None:
            given = {scope.inputs[k] for k in scope.nothing_for if k < len(scope.inputs)} & reached
            places = [
                i for i, x in enumerate(rule.inputs) if x in {behind_copies(program, id) for id in given}
            ]
            found += [fault for i in places for fault in _none(scope, rule, i)]
    return tuple(found)


def _none(scope: Scope, rule: HandWrittenRule, i: int) -> list[CustomFault]:
    try:
        true = read(rule, rule.here, exact=True).true[i]
    except GradproofError:
        return []
    if not true.is_bounded or not bool((np.abs(true.mid) > true.rad).any()):
        return []
    worst = tuple(int(k) for k in np.unravel_index(int(np.argmax(np.abs(true.mid))), true.mid.shape))
    return [CustomFault(scope, Mistake("none", rule, i, np.zeros(true.mid.shape), true.mid, worst))]


def _follows(fault: CustomFault, all: Iterable[CustomFault]) -> bool:
    """Whether a rule is wrong because it used what another wrong rule returned, other than as its upstream gradient."""
    rule = fault.mistake.rule
    own = {id for id in rule.results if id is not None}
    used = needed(rule.program, [*own], lambda id: id in rule.upstream) - own - set(rule.upstream)
    others = (other.mistake for other in all if other.scope is not fault.scope)
    return any(other.rule.results[other.input] in used for other in others)


def rule_of(program: Program, scope: Scope) -> HandWrittenRule | None:
    """A custom gradient as a rule; None where it did not run, or not in full sight."""
    if scope.upstream is None or scope.results is None:
        return None
    outputs = scope.outputs
    # Integers beside the result, as places in a table, have no gradient.
    if len(outputs) != len(scope.upstream):
        outputs = tuple(id for id in outputs if not program[id].is_discrete)
    return _rule(program, scope.name, scope.inputs, outputs, scope.upstream, scope.results)


def rule_of_pullback(program: Program, pullback: Pullback) -> HandWrittenRule | None:
    """The rule of one op; outputs that got no gradient have no part in it."""
    used = [(o, u) for o, u in zip(pullback.outputs, pullback.upstream) if u is not None]
    if not used:
        return None
    outputs, upstream = zip(*used)
    return _rule(program, pullback.op, pullback.inputs, outputs, upstream, pullback.results)


def _rule(
    program: Program,
    name: str,
    inputs: tuple[int, ...],
    outputs: tuple[int, ...],
    upstream: tuple[int, ...],
    results: tuple[int | None, ...],
) -> HandWrittenRule | None:
    inputs = tuple(behind_copies(program, x) for x in inputs)
    real = [(x, r) for x, r in zip(inputs, results) if not types.is_discrete(program[x].dtype)]
    complete = len(inputs) == len(results) and len(upstream) in (0, len(outputs)) and bool(outputs)
    misfit = any(r is not None and program[r].shape != program[x].shape for x, r in real)
    if not complete or misfit or not real:
        return None
    if len({x for x, _ in real}) < len(real):
        program, real = _with_sums(program, real)
    return HandWrittenRule(
        program, name, tuple(x for x, _ in real), outputs, upstream, tuple(r for _, r in real)
    )


def _with_sums(
    program: Program, pairs: Iterable[tuple[int, int | None]]
) -> tuple[Program, list[tuple[int, int | None]]]:
    """An input that is passed twice is one node: what it gets is the sum of what its places get."""
    results: dict[int, list[int]] = {}
    for x, r in pairs:
        results.setdefault(x, []).extend(() if r is None else (r,))
    nodes = list(program.nodes)
    real: list[tuple[int, int | None]] = []
    for x, (*parts,) in results.items():
        while len(parts) > 1:
            a, b = (next(node for node in reversed(nodes) if node.id == id) for id in parts[:2])
            id = max(node.id for node in nodes) + 1
            nodes.append(replace(a, id=id, op="add", inputs=(a.id, b.id), params={}, value=a.value + b.value))
            parts[:2] = [id]
        real.append((x, parts[0] if parts else None))
    return replace(program, nodes=tuple(nodes)), real


def fits(argument: Node, result: Node) -> bool:
    """Whether a result has the shape and the dtype of a gradient for its argument."""
    return argument.shape == result.shape and argument.dtype == result.dtype


def shape_hint(found: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """The mistake that such a shape usually comes from."""
    if found == wanted[::-1]:
        return "it is transposed"
    try:
        repeated = joint_shape(found, wanted) == found
    except ValueError:
        return ""
    return "the copies that broadcasting made are not summed" if repeated else ""
