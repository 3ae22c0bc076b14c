"""The words for each mistake in a hand-written rule: headline, label, why, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.ir import types
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.judge.mistake import Mistake


@dataclass(frozen=True)
class Said:
    """`fault` completes "the gradient of `f` ...", `label` stands under the rule, `instead` changes its result."""

    fault: str
    label: str
    why: str
    fix: str = ""
    instead: Instead | None = None


@dataclass(frozen=True)
class Instead:
    """What takes the place of a returned expression: as text with {value} and {upstream}, and as arithmetic."""

    text: str
    apply: Callable[[Array, Array], Array]  # the value that was returned, the gradient that came in


def say(case: Case, mistake: Mistake) -> Said:
    return _WORDS[mistake.kind](case, mistake)


def line(case: Case, mistake: Mistake) -> str:
    """`line 6`, the place of the op that a mistake is about."""
    span = op_span(case, mistake)
    return "the forward" if span is None else f"line {span.line}"


def op_span(case: Case, mistake: Mistake) -> Span | None:
    return None if mistake.node is None else case.node(mistake.node).span


def _sign(case: Case, mistake: Mistake) -> Said:
    return Said(
        "has the wrong sign",
        "points the other way",
        "The rule returns the derivative of its forward times -1, here and at the other points tried. An "
        "optimiser that goes downhill by it goes uphill.",
        "change the sign of what the rule returns",
        Instead("-({value})", lambda value, upstream: -value),
    )


def _factor(case: Case, mistake: Mistake) -> Said:
    factor = mistake.numbers["factor"]
    size = abs(factor)
    amount = words.significant(size if size > 1 else 1 / size, 6).removesuffix(".0")
    way = "large" if size > 1 else "small"
    # Near 1 a ratio says little: what is said is how much is too much.
    near = abs(size - 1) < 1e-2
    what = (
        f"is too {way} by {words.significant(abs(size - 1), 2)} of its size"
        if near
        else f"is {amount} times too {way}"
    )
    sign = " and has the wrong sign" if factor < 0 else ""
    number = words.significant(1 / factor, 10).removesuffix(".0")
    label = f"{words.significant(factor, 10).removesuffix('.0')} times the derivative"
    if mistake.detail == "mean":
        return Said(
            what + sign,
            label,
            f"The rule takes the mean of {number} numbers where the derivative is their sum: every one of them adds to "
            "the result of the forward.",
            "take the sum, not the mean",
        )
    return Said(
        what + sign,
        label,
        "The rule returns the derivative of its forward times the same number at every point and entry tried: a "
        "constant factor was forgotten, or counted twice.",
        f"multiply what the rule returns by {number}",
        Instead(f"{number} * ({{value}})", lambda value, upstream: float(number) * value),
    )


def _zero(case: Case, mistake: Mistake) -> Said:
    return Said(
        "is zero, but its forward has a slope",
        "returns 0",
        "The result of the forward does change with this argument. A rule that returns zero for it says that it "
        "does not, and training leaves the argument where it is.",
        "return the derivative for this argument",
    )


def _missing_term(case: Case, mistake: Mistake) -> Said:
    where = line(case, mistake)
    return Said(
        "leaves out a term of the derivative",
        "one term is missing",
        f"The forward depends on its argument along more than one path. The rule returns just what is left when the "
        f"path through {where} is ignored, as if what is computed there were a constant.",
        f"add the term that comes through {where}",
    )


def _missing_factor(case: Case, mistake: Mistake) -> Said:
    where = line(case, mistake)
    return Said(
        "leaves out a factor of the chain rule",
        "one factor is missing",
        f"The chain rule multiplies the slopes of all steps of the forward. The rule returns their product without "
        f"the slope of the step in {where}.",
        f"multiply by the slope of the step in {where}",
    )


def _extra(case: Case, mistake: Mistake) -> Said:
    number = words.significant(mistake.numbers["coefficient"], 6).removesuffix(".0")
    what = f"{number} times the argument" if mistake.detail == "multiple" else number
    return Said(
        "has a term too many",
        f"{what} is added",
        f"The rule returns the derivative plus {what}, here and at the other points tried. Nothing in the forward "
        "has such a derivative.",
        "leave out the term, or add what it is the derivative of to the forward",
    )


def _transposed(case: Case, mistake: Mistake) -> Said:
    if mistake.detail == "jacobian":
        return Said(
            "multiplies with the Jacobian of its forward, not with its transpose",
            "lacks a transpose",
            "Going backward, the gradient that comes in is multiplied with the transposed Jacobian of the forward. At "
            "every point tried this rule multiplies with the Jacobian itself, as `upstream @ W` does for `x @ W`.",
            "transpose the matrix that the gradient is multiplied with",
        )
    return Said(
        "is transposed",
        "rows and columns are exchanged",
        "A gradient has the shape of its argument, and every entry stands where the entry stands that it belongs "
        "to. The rule returns the right numbers with rows and columns exchanged.",
        "transpose what the rule returns",
        Instead("{module}.transpose({value})", lambda value, upstream: np.transpose(value)),
    )


def _swapped(case: Case, mistake: Mistake) -> Said:
    return Said(
        "belongs to another of its arguments",
        "this is the gradient of another argument",
        "A rule returns one gradient per argument, in the order of the arguments. What stands in this place is the "
        "gradient of another one of the same shape.",
        "return the gradients in the order of the arguments",
    )


def _unreduced(case: Case, mistake: Mistake) -> Said:
    copies = f"{mistake.numbers['copies']:.0f}"
    return Said(
        f"counts one of {copies} copies that broadcasting made",
        "not summed over the copies",
        f"Broadcasting uses this argument {copies} times, and each use contributes to the gradient. The rule "
        "returns the contribution of one use only.",
        "sum over the axes along which the argument was broadcast",
    )


def _ignores(case: Case, mistake: Mistake) -> Said:
    return Said(
        "ignores the gradient that comes in",
        "does not depend on the gradient that comes in",
        "A rule is given the gradient of the loss for its result and has to multiply it by its own slope. This one "
        "returns the slope alone, so everything between its result and the loss is left out. It is right only "
        "where that gradient happens to be 1.",
        "multiply by the gradient that comes in",
        Instead("{upstream} * ({value})", lambda value, upstream: upstream * value),
    )


def _not_linear(case: Case, mistake: Mistake) -> Said:
    if mistake.detail == "constant part":
        size = words.significant(mistake.numbers["constant"], 3)
        seen = f"For an incoming gradient of 0 this one returns up to {size}."
    else:
        power = words.significant(2.0 ** mistake.numbers["power"], 3).removesuffix(".0")
        seen = f"Doubling the incoming gradient multiplies what this one returns by {power}."
    return Said(
        "is not linear in the gradient that comes in",
        "not proportional to the gradient that comes in",
        "A derivative maps small changes to small changes, so twice the incoming gradient gives twice the result. "
        f"{seen}",
        "use the gradient that comes in as one factor, and in one place only",
    )


def _branch(case: Case, mistake: Mistake) -> Said:
    where, side = line(case, mistake), mistake.detail.lower()
    return Said(
        f"is wrong where the condition in {where} is {side}",
        "right for the other branch only",
        f"The forward decides in {where}. Where the condition is {side}, the rule does not return the slope of the "
        "branch that was taken; on the other side it is right.",
        f"decide in the rule as {where} does, and return the slope of each branch",
    )


def _entries(case: Case, mistake: Mistake) -> Said:
    n, size = len(mistake.entries), mistake.true.size
    places = words.capped_list([str(list(index)) for index in mistake.entries])
    return Said(
        f"is wrong at {n} of {size} entries",
        f"wrong at {places}",
        f"Of the {size} entries of its argument the rule has the derivative for {size - n}, and something else at "
        f"{places}.",
        "look at what the rule does with these entries",
    )


def _difference(case: Case, mistake: Mistake) -> Said:
    step = words.significant(mistake.numbers["step"], 4).removesuffix(".0")
    if mistake.detail == "central":
        law = "step^2/6 times the third derivative"
    else:
        law = "half the step times the second derivative"
    return Said(
        "is a finite difference, not the derivative",
        f"a {mistake.detail} difference with step {step}",
        f"A {mistake.detail} difference misses the derivative by about {law}. Here that prediction equals the "
        "observed difference, so the step is the cause, not rounding. A smaller step trades this error for "
        "cancellation; no step gives all digits.",
        "return the exact derivative",
    )


def _dtype(case: Case, mistake: Mistake) -> Said:
    wanted = case.node(mistake.rule.inputs[mistake.input]).dtype
    digits = round(types.digits_possible(mistake.detail))
    return Said(
        f"computes in {mistake.detail}, not in {wanted}",
        f"{digits} digits from here on",
        f"What is returned went through {mistake.detail}, which holds {digits} digits. The formula is right, but the "
        "digits that are cut off do not come back.",
        f"compute the gradient in {wanted}, the dtype of what it is the gradient for",
    )


def _not_finite(case: Case, mistake: Mistake) -> Said:
    value = words.number(float(mistake.meant[mistake.worst])).replace("nan", "NaN")
    return Said(
        f"returns {value} where the derivative is an ordinary number",
        f"returns {value}",
        f"What the rule was given is finite, and so is the derivative of its forward. It returns {value} all the same, "
        "and everything that is computed from it is spoilt.",
        "return the derivative of the forward",
    )


def _none(case: Case, mistake: Mistake) -> Said:
    return Said(
        "returns None for an argument that its forward depends on",
        "nothing for one of the arguments",
        "The result of the forward does change with this argument. Where a rule returns None, the framework goes on "
        "without what comes through it, and the gradient lacks that part.",
        "return the gradient for this argument too",
    )


def _other(case: Case, mistake: Mistake) -> Said:
    return Said(
        "is not the derivative of its forward",
        "",
        "The rule was tried alone, with the inputs and the incoming gradient it had. In exact arithmetic, without "
        "any rounding, it returns something else than its forward's derivative.",
        "derive the rule from the forward again",
    )


_WORDS: dict[str, Callable[[Case, Mistake], Said]] = {
    "sign": _sign, "factor": _factor, "zero": _zero, "missing term": _missing_term,
    "missing factor": _missing_factor, "extra term": _extra, "transposed": _transposed, "swapped": _swapped,
    "un-reduced broadcast": _unreduced, "ignores upstream": _ignores, "not linear": _not_linear,
    "branch": _branch, "entries": _entries, "finite difference": _difference, "dtype": _dtype,
    "not finite": _not_finite, "none": _none, "other": _other,
}  # fmt: skip


def entry(array: np.ndarray[tuple[int, ...], np.dtype[np.float64]], index: tuple[int, ...]) -> str:
    """One entry, to the digits that help a reader."""
    return words.significant(np.asarray(array)[index].item(), 10)
