"""Shared by kink and jump: the slopes of both sides at a tie, the op that decides, and what was returned."""

from __future__ import annotations

import numpy as np

from gradproof.causes._evidence import Rows, observed_text
from gradproof.causes._places import name_of, op_words, short
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.flow import Place, operand, value_at
from gradproof.engine.decisions import Side, Sides
from gradproof.ir.program import Node, Program
from gradproof.judge.verdict import Verdict
from gradproof.ops import TABLE

SHOWN_DIGITS = 6


def tied_sides(case: Case, fact: str) -> Sides | None:
    """What is known around the tie that leaves this gradient undefined, if it is of this kind."""
    reference = case.judgement.reference
    if case.verdict is not Verdict.UNDEFINED or reference is None or reference.sides is None:
        return None
    differs = reference.sides.differing.get(case.source.node if case.source.node is not None else -1)
    found = reference.sides.fact == fact and differs is not None and bool(differs.any())
    return reference.sides if found else None


def side_at(case: Case) -> Side | None:
    """The entry of the source to speak of: one whose slopes differ, if one does."""
    assert case.judgement.reference is not None and case.judgement.reference.sides is not None
    own = [side for side in case.judgement.reference.sides.slopes if side.input == case.source.node]
    apart = [side for side in own if float(side.left.mid) != float(side.right.mid)]
    return next(iter(apart or own), None)


def slopes_at(case: Case) -> tuple[tuple[int, ...], str, str]:
    """The entry, and its slopes from below and above as text."""
    side = side_at(case)
    if side is None:
        return (0,) * len(case.source.shape), "", ""
    left, right = (_slope_text(float(one.mid), float(one.rad)) for one in (side.left, side.right))
    return side.index, left, right


def _slope_text(mid: float, rad: float) -> str:
    """A few digits tell two slopes apart; the proven ones are in the report."""
    if not np.isfinite(rad):
        return "unknown"
    return "0" if abs(mid) <= rad else words.significant(mid, SHOWN_DIGITS).removesuffix(".0")


def side_rows(case: Case, index: tuple[int, ...]) -> Rows:
    """Returned, from below, from above, and how the first lies to the others."""
    side = side_at(case)
    rows = [(words.framework_name(case.capture.framework), observed_text(case, index))]
    if side is None:
        return tuple(rows)
    _, left, right = slopes_at(case)
    rows += [("from below", f"slope {left}"), ("from above", f"slope {right}")]
    if case.source.observed is not None:
        rows.append(("returned", _relation(case, index, float(side.left.mid), float(side.right.mid))))
    return tuple(rows)


def _relation(case: Case, index: tuple[int, ...], left: float, right: float) -> str:
    observed = float(np.real(np.asarray(case.source.observed)[index]))
    tolerance = case.options.tolerance(case.source.dtype) * max(abs(left), abs(right))
    if not np.isfinite(observed):
        return "not a number" if np.isnan(observed) else "infinite"
    if abs(observed - left) <= tolerance and abs(observed - right) <= tolerance:
        return "the slope in this direction; in others it differs"
    if abs(observed - left) <= tolerance or abs(observed - right) <= tolerance:
        return f"the slope from {'below' if abs(observed - left) <= tolerance else 'above'}"
    inside = min(left, right) < observed < max(left, right)
    return "a value between the two slopes" if inside else "a value outside the two slopes"


def decided_at(case: Case) -> tuple[Node, Place | None]:
    """The decision to blame, and the entry of it that is at a tie."""
    reference = case.judgement.reference
    assert reference is not None and reference.sides is not None
    program = reference.run.program
    guilty = [program[id] for id in reference.sides.guilty or reference.sides.ties]
    node = next((one for one in guilty if one.span is not None), guilty[0])
    for decision in reference.decisions:
        if decision.node == node.id and bool((decision.ties | decision.is_unclear).any()):
            index = np.argwhere(decision.ties | decision.is_unclear)[0]
            return node, Place(node.id, tuple(int(k) for k in index))
    return node, None


def tie_label(case: Case, node: Node, place: Place | None) -> str:
    """`x[0] = 0 is compared with 0: a tie`."""
    reference = case.judgement.reference
    assert reference is not None
    program = reference.run.program
    compares = TABLE[node.op].compares
    if compares == "pair" and place is not None:
        one, other = (_told(case, program, operand(program, place, k)) for k in (0, 1))
        return f"compares {one} with {other}: a tie"
    if compares == "grid" and place is not None:
        return f"{op_words(node)} changes at {_told(case, program, operand(program, place, 0))}"
    return _tied_for(case, program, node) or f"{op_words(node)} has a tie"


def _told(case: Case, program: Program, place: Place) -> str:
    value = short(value_at(program, place), program[place.id].dtype)
    name = name_of(case, program, place)
    return value if name is None else f"{name} = {value}"


def _tied_for(case: Case, program: Program, node: Node) -> str | None:
    """The entries that tie for the place of the largest or smallest."""
    if node.op not in ("argmax", "argmin") or not node.inputs:
        return None
    value = np.asarray(program[node.inputs[0]].value)
    best = value.max() if node.op == "argmax" else value.min()
    tied = [Place(node.inputs[0], tuple(int(k) for k in index)) for index in np.argwhere(value == best)]
    named = [name for place in tied if (name := name_of(case, program, place)) is not None]
    if len(tied) < 2 or len(named) < len(tied):
        return None
    what = "largest" if node.op == "argmax" else "smallest"
    both = "both" if len(tied) == 2 else "all"
    return f"a tie for the {what}: {words.capped_list(named)} are {both} {short(best, program[node.inputs[0]].dtype)}"
