"""The loss times a large number and the gradients divided by it, for what is too small for 16 bits on its way back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.engine.refine import entry_count
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.tried import Tried, tried
from gradproof.fixes.verify import MOST_ENTRIES
from gradproof.frameworks import framework
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.judge.compare import Comparison, compare
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

SCALES = (2**10, 2**15)  # powers of two change no digit; the second is where the frameworks' own tools begin
NARROW = "float16"  # bfloat16 reaches as far down as float32


def offer(fault: Fault) -> Iterator[Fix]:
    case, program, wrt = fault.case, fault.case.capture.program, fault.case.source.node
    if program is None or wrt is None or case.verdict is not Verdict.INACCURATE:
        return
    if NARROW not in {node.dtype for node in program.nodes} or entry_count(program) > MOST_ENTRIES:
        return

    @cache
    def trial(scale: int) -> Tried | None:
        return tried(case, scaled(program, scale), wrt, fault.replay)

    for limits in (_narrowed(case), _by_the_largest(case)):
        for scale in SCALES:
            found = trial(scale)
            if found is None or not found.in_framework or found.judgement.enclosure is None:
                continue
            comparison = compare(found.gradient, found.judgement.enclosure, case.source.dtype, limits)
            if comparison.outcome == "within":
                yield replace(advice(case, scale), checked=_checked(case, scale, comparison, limits))
                return
        if case.true is None or case.source.observed is None:
            return
        if (
            compare(case.source.observed, case.true, case.source.dtype, _by_the_largest(case)).outcome
            == "within"
        ):
            return  # its large entries are right as it is


def advice(case: Case, scale: int = SCALES[0]) -> Fix:
    tool = framework(case.capture.framework).loss_scaling
    made = f", as `{tool}` does" if tool else ""
    text = f"scale the loss: multiply it by {scale:,} and divide the gradients by {scale:,}{made}"
    return Fix(text, serves_all=True)


def scaled(program: Program, scale: int) -> Program:
    """The program with its result times a number."""
    output = program[program.outputs[0]]
    id = max(node.id for node in program.nodes) + 1
    value = np.full((), scale, types.numpy_dtype(output.dtype))
    factor = Node(id, "constant", (), output.dtype, (), value=value)
    product = Node(id + 1, "mul", (output.id, id), output.dtype, output.shape)
    return replace(program, nodes=(*program.nodes, factor, product), outputs=(id + 1,))


def _narrowed(case: Case) -> Options:
    """More digits than 16 bits have cannot be asked of what goes through them; but small numbers can."""
    options, dtype = case.options, case.source.dtype
    return replace(options, tolerances={**options.tolerances, dtype: options.tolerance(NARROW)})


def _by_the_largest(case: Case) -> Options:
    """Small entries that are what is left of a sum stay inexact in 16 bits, whatever the scale."""
    return replace(_narrowed(case), share_of_largest=1.0)


def _checked(case: Case, scale: int, comparison: Comparison, limits: Options) -> str:
    name = words.framework_name(case.capture.framework)
    returned = f"with the loss times {scale:,} {name} returns {scale:,} times the gradient"
    if limits.share_of_largest == 1.0:
        percent = words.significant(100 * comparison.relative_error, 2)
        return f"{returned}; no entry is off by more than {percent} % of the largest one."
    right = words.whole_digits_text(comparison.digits, types.digits_possible(NARROW))
    return f"{returned}, right to {right} of a {NARROW}."


FIX = FixKind("scaled-loss", ("underflow",), offer)
