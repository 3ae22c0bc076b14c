"""What is known of a wrong or non-finite gradient that no cause explains: where it first departs, from what to what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.ir.program import Node, Program, ancestors
from gradproof.judge.verdict import Verdict

_UNEXPLAINED = (Verdict.WRONG, Verdict.NONFINITE)
MOST_SHOWN = 3  # inputs of an op that are shown


def first_departure(case: Case, diagnostics: Sequence[Diagnostic]) -> str | None:
    """A sentence with the first op that departs, what it was given and both values; None where a cause says it."""
    if case.verdict not in _UNEXPLAINED or any(one.rank > 0 for one in diagnostics):
        return None
    return _of_a_rule(case) if case.verdict is Verdict.WRONG else _of_a_number(case)


def _of_a_rule(case: Case) -> str | None:
    program = case.capture.gradient_program
    if not case.rules.departures or program is None:
        return None
    found = case.rules.departures[0]
    off = np.abs(found.meant.mid - found.true.mid)
    worst = np.unravel_index(int(np.argmax(off)), off.shape)
    meant, true = (words.significant(float(np.real(one.mid[worst])), 7) for one in (found.meant, found.true))
    span, given = found.pullback.span, _values(program, found.pullback.inputs)
    where = "" if span is None else f" at line {span.line}"
    return (
        f"no cause was found; the first rule that departs is that of {found.pullback.op}{where}: given {given}, "
        f"it returns {meant} where the derivative is {true}"
    )


def _of_a_number(case: Case) -> str | None:
    program, recorded = case.capture.gradient_program, case.source.recorded
    if program is None or recorded is None:
        return None
    reaching = ancestors(program, [recorded])
    node = next((one for one in program.nodes if one.id in reaching and _is_bad(one)), None)
    if node is None:
        return None
    where = "" if node.span is None else f" at line {node.span.line}"
    bad = np.asarray(node.value).reshape(-1)
    value = words.number(bad[int(np.argmax(~np.isfinite(bad)))].item(), dtype=node.dtype)
    given = _values(program, node.inputs) if node.inputs else "nothing"
    backward = " in the backward pass" if node.phase == "backward" else ""
    return (
        f"no cause was found; the first op whose result is not finite is {node.op}{where}{backward}: given {given}, "
        f"it returns {value}"
    )


def _is_bad(node: Node) -> bool:
    if node.value is None or isinstance(node.value, tuple) or node.is_discrete:
        return False
    return not bool(np.isfinite(np.asarray(node.value)).all())


def _values(program: Program, ids: Sequence[int]) -> str:
    return words.comma_list([_text(program[id]) for id in ids[:MOST_SHOWN]])


def _text(node: Node) -> str:
    value = np.asarray(node.value)
    if value.ndim < 2 and value.size <= MOST_SHOWN:
        return words.array_text(value, node.dtype)
    return f"an array of shape {words.shape_text(value.shape)}"
