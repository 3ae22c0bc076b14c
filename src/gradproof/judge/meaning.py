"""What the recorded gradient program means in exact arithmetic: whether its rule is right, whatever was rounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradproof.engine.refine import Enclosure, Unknown, refine
from gradproof.engine.run import Run
from gradproof.errors import BeyondMemory, NotSupported
from gradproof.ir import types
from gradproof.ir.program import Program, prune
from gradproof.judge.compare import Comparison, compare
from gradproof.judge.reference import Evidence, Reference
from gradproof.options import Options


def recorded_meaning(evidence: Evidence, reference: Reference, options: Options) -> list[Comparison | None]:
    """What the recorded gradient program would return in exact arithmetic, compared with the true gradient.

    Within the tolerance, the rule is right and rounding is to blame; beyond it, more precision does not help.
    """
    recorded = evidence.recorded or (None,) * len(evidence.wrt)
    suspects = [
        k
        for k, comparison in enumerate(reference.comparisons)
        if comparison is not None and comparison.outcome == "beyond" and recorded[k] is not None
    ]
    meant: list[Comparison | None] = [None] * len(evidence.wrt)
    if evidence.gradient_program is None or not suspects:
        return meant
    outputs = [id for k in suspects if (id := recorded[k]) is not None]
    program = prune(evidence.gradient_program, outputs)
    dtype = _coarsest(evidence.program)
    found: list[Comparison] = []
    unknown = Unknown()

    def measure(result: Run) -> Sequence[Any]:
        return [result.values[id] for id in outputs]

    def is_decided(enclosures: tuple[Enclosure, ...], result: Run) -> bool:
        found[:] = [
            compare(exact.mid, _widened(reference.enclosures[k], exact), dtype, options)
            for k, exact in zip(suspects, enclosures)
        ]
        unknown.see(enclosures, result)
        settled = ("within", "beyond", "unbounded") if unknown.stays else ("within", "beyond")
        return all(comparison.outcome in settled for comparison in found)

    try:
        refine(program, measure, is_decided, options)
    except (NotSupported, BeyondMemory):
        return meant
    for k, comparison in zip(suspects, found):
        if comparison.outcome != "unbounded" or unknown.stays:
            meant[k] = comparison
    return meant


def _coarsest(program: Program) -> str:
    """The dtype with the fewest digits that the function itself computes in.

    The constants of its derivative are rounded to it, which is not the fault of the rule; a rule that is
    narrower than its function is.
    """
    dtypes = {
        node.dtype for node in program.nodes if types.is_real(node.dtype) or types.is_complex(node.dtype)
    }
    return min(dtypes, key=types.precision_bits)


def _widened(enclosure: Enclosure, by: Enclosure) -> Enclosure:
    return Enclosure(enclosure.mid, enclosure.rad + by.rad)
