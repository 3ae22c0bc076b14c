"""A gradient's verdict in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradproof.diagnosis.words import array_text, digits_text, number

if TYPE_CHECKING:
    from gradproof.tape.proof import Proof


def describe(proof: Proof, index: int) -> str:
    """`correct: ...` with the worst entry, observed and proven, or the reason why nothing is proven."""
    judgement = proof.judgement(index)
    observed = proof.observed(index)
    name = proof.sources[index].name or "source"
    lines = [f"{judgement.verdict}: {judgement.verdict.sentence}"]
    if proof.span is not None:
        lines.append(f" --> {proof.span}")
    comparison, reference = proof.comparison(index), proof.enclosure(index)
    if comparison.outcome != "unbounded" and comparison.worst is not None:
        place = comparison.worst
        entry = "".join(f"[{', '.join(map(str, place))}]" if place else "")
        mid, rad = reference.mid[place], float(reference.rad[place])
        dtype = observed.dtype.name
        lines += [
            f"  d {proof.target_name} / d {name}{entry}",
            f"    tape       {number(observed[place].item(), dtype=dtype)}",
            f"    proven     {number(mid.item(), rad)}",
            f"    agreement  {digits_text(comparison.digits, comparison.digits_possible)}",
        ]
    if judgement.one_sided is not None:
        below, above = judgement.one_sided
        lines.append(f"  slopes: {array_text(below)} from below, {array_text(above)} from above")
    if judgement.reason:
        lines.append(f"  reason: {judgement.reason}")
    return "\n".join(lines)
