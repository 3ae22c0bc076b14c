"""The loss times a large number and the gradients divided by it, for what is too small for 16 bits on its way back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.engine.refine import entry_count
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.tried import tried
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
    for scale in SCALES:
        found = tried(case, scaled(program, scale), wrt, fault.replay)
        if found is None or not found.in_framework or found.judgement.enclosure is None:
            continue
        comparison = compare(found.gradient, found.judgement.enclosure, case.source.dtype, _narrowed(case))
        if comparison.outcome == "within":
            yield Fix(text(case, scale), checked=_checked(case, scale, comparison))
            return


def text(case: Case, scale: int = SCALES[0]) -> str:
    tool = framework(case.capture.framework).loss_scaling
    made = f", as `{tool}` does" if tool else ""
    return f"scale the loss: multiply it by {scale:,} and divide the gradients by {scale:,}{made}"


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


def _checked(case: Case, scale: int, comparison: Comparison) -> str:
    right = words.whole_digits_text(comparison.digits, types.digits_possible(NARROW))
    name = words.framework_name(case.capture.framework)
    return f"with the loss times {scale:,} {name} returns {scale:,} times the gradient, right to {right} of a {NARROW}."


FIX = FixKind("scaled-loss", ("underflow",), offer)
