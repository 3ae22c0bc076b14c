"""A gradient as it is handed to the user: an array that can prove how good it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.diagnosis.words import array_text, digits_text, number
from gradproof.judge.judge import Judgement
from gradproof.judge.verdict import Verdict
from gradproof.tape.array import Array
from gradproof.tape.proof import Proof
from gradproof.tape.record import Record


class _Proven:
    """What a gradient says about itself; the proof is found when it is first asked for."""

    _proof: Proof | None
    _index: int

    @property
    def error(self) -> np.ndarray[Any, Any]:
        """A guaranteed bound of each entry's distance from the true gradient; infinite if unknown."""
        return self._proven.error(self._index)

    @property
    def digits(self) -> float:
        """Correct decimal digits of the worst entry; NaN where nothing could be proven."""
        comparison = self._proven.comparison(self._index)
        return float("nan") if comparison.outcome == "unbounded" else comparison.digits

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdict

    @property
    def judgement(self) -> Judgement:
        """The verdict with its evidence: the enclosure of the true gradient and how far it is away."""
        return self._proven.judgement(self._index)

    def explain(self) -> str:
        """The verdict in words, with the worst entry beside its proven value."""
        return _described(self._proven, self._index)

    @property
    def _proven(self) -> Proof:
        if self._proof is None:
            raise AttributeError(
                "only a gradient as the tape returned it carries a proof; this array was computed from one"
            )
        return self._proof


class Gradient(_Proven, np.ndarray):
    """A gradient as a NumPy array. What is computed from it is an ordinary array without a proof."""

    def __array_finalize__(self, other: Any) -> None:
        self._proof, self._index = None, 0

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        del context
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain


class TracedGradient(_Proven, Array):
    """A gradient computed while another tape records: it can be differentiated again."""

    __slots__ = ("_index", "_proof")

    def __init__(self, record: Record, proof: Proof, index: int) -> None:
        super().__init__(record)
        self._proof, self._index = proof, index


def gradient_array(value: Any, proof: Proof, index: int) -> Gradient:
    gradient = np.array(value).view(Gradient)
    gradient._proof, gradient._index = proof, index
    return gradient


def _described(proof: Proof, index: int) -> str:
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
