"""The dtype that counts: the narrowest that the program's own policy put on the path to a gradient.

In mixed precision a library casts to 16 bits, and no line of the user's says so at that place. What 16 bits allow is
then all that can be asked. A cast that a line writes out by name is the line's own doing, and is judged as any other.
Where the frontend knows the policy itself (`Capture.policy`), the options have been widened by it before.
"""

from __future__ import annotations

import linecache
import re
from dataclasses import replace

import numpy as np

from gradproof.ir import types
from gradproof.ir.capture import Capture, Source
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.span import Span
from gradproof.judge.compare import compare
from gradproof.judge.judge import Judgement
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

_MOST_BITS = 11  # the precision of float16; bfloat16 has 8
_BY_NAME = re.compile(r"float16|\.half\b")


def by_policy(capture: Capture, k: int, judgement: Judgement, options: Options) -> Judgement:
    """An inaccurate gradient is correct where it is as good as the dtype that the policy chose, and measured by it."""
    source, true = capture.sources[k], judgement.enclosure
    if judgement.verdict is not Verdict.INACCURATE or source.observed is None or true is None:
        return judgement
    dtype = _unsaid(capture, k)
    if dtype is None:
        return judgement
    found = compare(source.observed, true, dtype, allowed(capture, k, judgement, options))
    if found.outcome != "within":
        return replace(judgement, comparison=found)
    reason = f"measured by what {dtype} allows, which the program's own policy put on the path"
    return replace(judgement, verdict=Verdict.CORRECT, comparison=found, reason=reason)


def allowed(capture: Capture, k: int, judgement: Judgement, options: Options) -> Options:
    """What may be asked of a gradient: as the options say, or as much as the policy's dtype allows.

    Entries that are zero because they were too small for the dtype are lost, which no rounding excuses: the loss is to
    be scaled.
    """
    dtype = policy_dtype(capture, k)
    if dtype is None:
        return options
    observed, true = capture.sources[k].observed, judgement.enclosure
    is_lost = False
    if observed is not None and true is not None and np.shape(observed) == np.shape(true.mid):
        is_lost = bool(np.any((observed == 0) & (np.abs(true.mid) > true.rad)))
    return options if is_lost else options.under(dtype)


def policy_dtype(capture: Capture, k: int) -> str | None:
    """The dtype that the program's policy chose, whether the frontend names it or the casts show it."""
    return capture.run.policy or _unsaid(capture, k)


def _unsaid(capture: Capture, k: int) -> str | None:
    """The dtype of a policy that the frontend did not name, where it is narrower than the gradient."""
    source = capture.sources[k]
    if capture.run.policy is not None or not types.is_real(source.dtype):
        return None
    dtype = _narrowest(capture, source)
    return dtype if dtype and types.precision_bits(dtype) < types.precision_bits(source.dtype) else None


def _narrowest(capture: Capture, source: Source) -> str | None:
    """The 16-bit dtype that numbers on the way to a gradient are cast to by no line of the user's; else None."""
    program = capture.program
    if program is None or source.node is None:
        return None
    casts = [node for node in program.nodes if _narrows(program, node)]
    if not casts:
        return None
    way = _way(capture, program, source)
    casts = [node for node in casts if node.id in way]
    if not casts or any(_is_by_name(node.span) for node in casts):
        return None
    return min((node.dtype for node in casts), key=types.precision_bits)


def _way(capture: Capture, program: Program, source: Source) -> set[int]:
    """What the gradient was computed from, where that was recorded; else what leads from the source to the target.

    The last layer of a model may compute in float32: its gradient is made of activations in 16 bits all the same.
    """
    if capture.gradient_program is not None and source.recorded is not None:
        return ancestors(capture.gradient_program, [source.recorded])
    assert source.node is not None
    return descendants(program, [source.node]) & ancestors(program, program.outputs)


def _narrows(program: Program, node: Node) -> bool:
    if node.op != "cast" or not types.is_real(node.dtype) or types.precision_bits(node.dtype) > _MOST_BITS:
        return False
    before = program[node.inputs[0]].dtype
    return types.is_real(before) and types.precision_bits(before) > types.precision_bits(node.dtype)


def _is_by_name(span: Span | None) -> bool:
    """Whether the user's own lines name a 16-bit dtype where the cast is; without them nothing is known of it."""
    if span is None:
        return True
    lines = [linecache.getline(span.file, number) for number in range(span.line, span.last_line + 1)]
    return not any(lines) or any(_BY_NAME.search(line) for line in lines)
