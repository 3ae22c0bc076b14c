"""Finds a smooth function for the place where one has a corner, a step or an infinite slope, and tries it out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.entries import norm
from gradproof.engine.refine import Enclosure, entry_count
from gradproof.errors import GradproofError
from gradproof.fixes.allowance import deadline
from gradproof.fixes.choice import soft_choices
from gradproof.fixes.clip_bounds import narrower_clips
from gradproof.fixes.extremes import extremes
from gradproof.fixes.graph import Graph, Id
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.patch import patch_of
from gradproof.fixes.pattern import Binding, matches, parse
from gradproof.fixes.rewrite import build, with_nodes
from gradproof.fixes.rule import RewriteRule
from gradproof.fixes.substitutes import CORNERS, SAME, SOFT, STEPS, UPRIGHT, Substitute
from gradproof.fixes.tried import Tried, checked_text, depends_on_opaque, tried
from gradproof.fixes.verify import N_NEARBY, is_equal
from gradproof.fixes.width import corner_width, step_width, width_of
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict
from gradproof.ops import TABLE

_CUT = (Verdict.MISSING, Verdict.CORRECT)  # on a way through steps nothing passes, or zero does
MOST_PLACES = 6  # places of the source at which a substitute is tried
SAME_NEARBY = f"Both are equal in exact arithmetic at {N_NEARBY} points nearby."
MOST_ENTRIES = 20_000  # numbers in a program that is judged anew for every change
SECONDS = 3.0  # for all of them: a fix must not take longer than the check itself
MOST_MOVED = 0.1  # of a gradient that exists: more is no longer the same gradient
MOST_TRIED = 24  # changed programs that are run and judged


@dataclass(frozen=True, eq=False)
class SubstituteChange:
    """A program in which a function was replaced wherever one piece of the source computed it.

    `patch` is the change of the lines where the nodes themselves do not tell it.
    """

    program: Program
    nodes: tuple[int, ...]
    text: str
    meaning: str
    patch: str | None = None


def offer(fault: Fault) -> Iterator[Fix]:
    if _is_cut(fault.case) or _has_no_slope(fault.case):
        found = _substituted(fault)
        if found is not None:
            yield found


def _is_cut(case: Case) -> bool:
    """Whether steps lie on every way from the source to the target."""
    program, source, observed = case.capture.program, case.source.node, case.source.observed
    if case.verdict is not Verdict.CORRECT:
        missing = case.source.missing
        return case.verdict is Verdict.MISSING and missing is not None and missing.kind == "discrete-op"
    if program is None or source is None or observed is None or np.any(observed):
        return False
    return program.outputs[0] not in descendants(program, [source])


def _has_no_slope(case: Case) -> bool:
    """A corner, a step, an infinite slope, or no value at all: no other way of writing the function mends that."""
    if case.verdict is Verdict.UNVERIFIED:
        return case.lacks_a_value
    singular = case.irregular.kind in (
        "singular-point",
        "invalid-domain",
    )
    return case.verdict is Verdict.UNDEFINED or (case.verdict is Verdict.NONFINITE and singular)


def _substituted(fault: Fault) -> Fix | None:
    """The first change whose gradient is right; of several, one that can be shown in the user's lines."""
    case, replay = fault.case, fault.replay
    program, wrt = case.capture.program, case.source.node
    if program is None or wrt is None or case.capture.run.order != 1 or not types.is_real(case.source.dtype):
        return None
    if entry_count(program) > MOST_ENTRIES:
        return None
    found: Fix | None = None
    own = time.thread_time() + min(SECONDS, (case.options.seconds or SECONDS * 2) / 2)
    until = min(own, deadline())
    # What a mask keeps out stays out: a smooth switch in its place would let it in.
    changes = _clips(case, program) if fault.found.kind == "masked-branch" else _changes(case, program)
    for k, change in enumerate(changes):
        if k == MOST_TRIED or time.thread_time() > until:
            break
        patch = _patch(case, program, change)
        if found is not None and not patch:
            continue
        result = tried(case, change.program, wrt, replay)
        if result is None or not result.is_correct or (case.verdict in _CUT and not np.any(result.gradient)):
            continue
        if not change.meaning and not is_equal(program, change.program, wrt, has_point=False):
            continue
        if case.verdict is Verdict.NONFINITE and is_far(case.true, result.gradient):
            continue
        found = _fix(case, program, change, result, patch)
        if patch:
            return found
    return found


def is_far(true: Enclosure | None, gradient: Array) -> bool:
    """Whether a changed function has quite another gradient than the one that this function has, and was not given.

    A number that is zero only because it was rounded is not helped by a small constant beside it.
    """
    if true is None or not np.isfinite(true.mid).all() or not np.any(true.mid):
        return False
    return norm(gradient - true.mid) > MOST_MOVED * norm(true.mid)


def _patch(case: Case, program: Program, change: SubstituteChange) -> str:
    if change.patch is not None:
        return change.patch
    found = patch_of(program, change.program, change.nodes, case.sources, case.capture.framework)
    return "" if found is None else found.text


def _fix(case: Case, program: Program, change: SubstituteChange, result: Tried, patch: str) -> Fix:
    if not change.meaning:
        checked = checked_text(case, result)
        return Fix(change.text, patch, checked and f"{checked} {SAME_NEARBY}")
    before = np.asarray(program[program.outputs[0]].value)
    shown = [words.number(float(x), dtype=str(before.dtype)) for x in (before, result.value)]
    moved = f"; `{case.capture.target}` is {shown[1]} instead of {shown[0]} here"
    value = moved if shown[0] != shown[1] else f"; `{case.capture.target}` stays {shown[0]} here"
    checked = checked_text(case, result, f" for the changed function{value}")
    return Fix(change.text, patch, checked, change.meaning)


def _clips(case: Case, program: Program) -> Iterator[SubstituteChange]:
    if case.verdict is Verdict.UNDEFINED:
        yield from (SubstituteChange(*made) for made in narrower_clips(case, program))


def _changes(case: Case, program: Program) -> Iterator[SubstituteChange]:
    if case.verdict in _CUT:
        yield from (SubstituteChange(*made) for made in soft_choices(case, program))
    yield from _clips(case, program)
    graph, places = Graph(program), list(_places(case, program))
    if len(places) > 1 and case.verdict is Verdict.UNDEFINED:
        yield from _everywhere(
            case, program, places
        )  # with one corner left the function is as rough as before
    same = [place for place in places if place[1] is SAME]
    for span, table in places:
        if table is not SAME and len(same) > 1:
            yield from _everywhere(case, program, same)
            same = []
        nodes = [node for node in program.nodes if node.span == span and not node.is_discrete]
        for substitute in table:
            yield from _applied(case, program, graph, nodes, substitute)
        if table not in (UPRIGHT, SAME, SOFT):
            for made, text, meaning in extremes(program, nodes, lambda ids: width_of(program, ids)):
                if not depends_on_opaque(program, made):
                    yield SubstituteChange(with_nodes(program, made), tuple(made), text, meaning)


def _everywhere(
    case: Case, program: Program, places: Sequence[tuple[Span, Sequence[Substitute]]]
) -> Iterator[SubstituteChange]:
    """The first substitute that fits at each of several places, in one change."""
    current = program
    changed: tuple[int, ...] = ()
    texts: list[str] = []
    meanings: list[str] = []
    for span, table in places:
        nodes = [node for node in current.nodes if node.span == span and not node.is_discrete]
        graph = Graph(current)
        fits = (one for substitute in table for one in _applied(case, current, graph, nodes, substitute))
        change = next((one for one in fits if _is_written(case, program, one, changed)), None)
        if change is not None:
            current, changed = change.program, (*changed, *change.nodes)
            texts.append(change.text)
            meanings.append(change.meaning)
    if len(texts) > 1:
        joined = "; ".join(dict.fromkeys(texts)), "; ".join(dict.fromkeys(meanings))
        yield SubstituteChange(current, tuple(dict.fromkeys(changed)), *joined)


def _is_written(case: Case, program: Program, change: SubstituteChange, changed: tuple[int, ...]) -> bool:
    nodes = tuple(dict.fromkeys((*changed, *change.nodes)))
    return patch_of(program, change.program, nodes, case.sources, case.capture.framework) is not None


def _places(case: Case, program: Program) -> Iterator[tuple[Span, Sequence[Substitute]]]:
    """Where the op stands that has no slope, and what may take its place, the most suspicious first."""
    if case.verdict in _CUT:
        yield from ((span, SOFT) for span in _decided(program, _steps(program)))
        return
    suspects = [] if case.irregular.singular is None else [program[case.irregular.singular.node]]
    way = ancestors(program, program.outputs) & descendants(program, [case.source.node or 0])
    suspects += [node for node in program.nodes if node.id in way and is_at_edge(program, node)]
    spans = dict.fromkeys(node.span for node in suspects if node.span is not None)
    places = list(spans)[:MOST_PLACES]
    if (
        case.verdict is Verdict.NONFINITE
    ):  # the function has a derivative: another way of writing it may find it
        used = [node.span for node in program.nodes if node.span and _takes_from(program, node, places)]
        yield from ((span, SAME) for span in dict.fromkeys((*used, *places)))
    reference = case.judgement.reference
    sides = None if reference is None else reference.sides
    if sides is not None:
        for span in _decided(program, sides.guilty or sides.ties):
            yield span, (*CORNERS, *STEPS)
    yield from ((span, UPRIGHT) for span in places)


def _takes_from(program: Program, node: Node, spans: Sequence[Span]) -> bool:
    """Whether a place computes with what another of these places has made, and may undo it."""
    before = {program[id].span for id in node.inputs}
    return not node.is_discrete and any(span in spans for span in before - {node.span})


def _steps(program: Program) -> list[int]:
    return [node.id for node in program.nodes if node.is_discrete and node.inputs]


def _decided(program: Program, ids: Iterable[int]) -> list[Span]:
    """The places of the selections that follow from decisions; those of the decisions themselves where none does."""
    ids = set(ids)
    found: dict[Span, None] = {}
    for node in program.nodes:
        if node.is_discrete and any(id in ids for id in node.inputs):
            ids.add(node.id)
        elif node.span is not None and not node.is_discrete and any(id in ids for id in node.inputs):
            found[node.span] = None
    return list(found)[:MOST_PLACES]


def is_at_edge(program: Program, node: Node) -> bool:
    """Whether an op was given a number at which its slope is infinite."""
    edges = TABLE[node.op].edges if node.op in TABLE else ()
    if not edges or not node.inputs:
        return False
    value = np.asarray(program[node.inputs[0]].value)
    return any(bool((value == edge).any()) for edge in edges)


def _applied(
    case: Case, program: Program, graph: Graph, nodes: Sequence[Node], substitute: Substitute
) -> Iterator[SubstituteChange]:
    """The substitute at all nodes of one place: a line that runs many times is changed for all of them."""
    fits: dict[int, Binding] = {}
    for node in nodes:
        bound = next(iter(matches(graph, parse(substitute.pattern), Id(node.id))), None)
        if bound is not None:
            fits[node.id] = bound
    if not fits or depends_on_opaque(program, fits):
        return
    width = step_width(program, fits.values()) if substitute in SOFT else corner_width(program, fits)
    numbers = {"W": width, "V": float(f"{width * width:.0e}"), "N": 1.0 - float(f"{width * width:.0e}")}
    smooth = substitute.written(case.capture.framework)
    rule = RewriteRule(substitute.pattern, smooth.replace(" / W", "") if width == 1.0 else smooth, "")
    try:
        made = {id: build(program, program[id], rule, {**bound, **numbers}) for id, bound in fits.items()}
    except (GradproofError, ValueError, TypeError, IndexError, AttributeError):
        return
    shown = {"width": _short(width), "square": _short(numbers["V"]), "shrunk": f"{numbers['N']:.12g}"}
    text, meaning = (part.format(**shown) for part in (substitute.text, substitute.meaning))
    yield SubstituteChange(with_nodes(program, made), tuple(made), text, meaning)


def _short(number: float) -> str:
    """As the patch writes it: 1e-6, not 1e-06."""
    return f"{number:g}".replace("e-0", "e-").replace("e+0", "e+")


FIX = FixKind(
    "smooth-substitute",
    ("discrete-op", "invalid-domain", "jump", "kink", "masked-branch", "singular-point"),
    offer,
)
