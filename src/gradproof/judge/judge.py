"""From what was observed to one of the seven verdicts, per gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradproof.engine.decision_witness import misdecided
from gradproof.engine.refine import FIRST_ARB_BITS, Enclosure, entry_count
from gradproof.engine.value_witness import misread
from gradproof.errors import BeyondMemory, NoDerivative, NotSupported, TooDeep
from gradproof.ir.types import Array
from gradproof.judge.always_zero import with_zeros_fixed
from gradproof.judge.climb import is_large
from gradproof.judge.compare import Comparison
from gradproof.judge.float64_limits import boundless_step, without_value
from gradproof.judge.infinite import INFINITE_CONSTANT, INFINITE_TARGET, agree, is_infinite, with_stand_ins
from gradproof.judge.kinds import untested
from gradproof.judge.meaning import recorded_meaning, rounded_in_the_dark
from gradproof.judge.measured import Measurement, as_far_as_it_goes, measured
from gradproof.judge.perturbed_runs import DEEP, by_shaking, how
from gradproof.judge.reference import CHEAP_ENTRIES, Evidence, Oracle, Reference, find_reference
from gradproof.judge.slope_witness import contradicted
from gradproof.judge.undefined import TOO_WIDE, one_sided, undefined
from gradproof.judge.unknown import NO_NUMBER_GIVEN, is_nan_given
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

NO_VALUE = "the target itself is not finite: `{op}` has no value here, and zero times no value is no number"
MAX_INPUTS_ALONE = 32  # with more inputs than this, looking at each of them alone takes too long

__all__ = ["Evidence", "Judgement", "judge"]


@dataclass(frozen=True)
class Judgement:
    """The verdict on one gradient and the evidence for it."""

    verdict: Verdict
    oracle: Oracle
    reason: str | None  # why it is unverified, or undefined
    enclosure: Enclosure | None  # of the true gradient
    comparison: Comparison | None
    reference: Reference | None = None  # what was learnt on the way to it, shared by all gradients of a call
    one_sided: tuple[Array, Array] | None = None  # slopes from below and above, where they differ


def judge(evidence: Evidence, options: Options) -> tuple[Judgement, ...]:
    """One judgement per source; what cannot be decided is unverified, with its reason."""
    beyond = _beyond(evidence)
    if beyond is not None:
        return tuple(_without_reference(observed, beyond) for observed in evidence.observed)
    found = _as_meant(evidence, options)
    if all(one.verdict is Verdict.MISSING for one in found):
        return found
    other = misread(evidence.program) or misdecided(evidence.program)
    if other is None:
        return found
    return tuple(
        one
        if one.verdict is Verdict.MISSING
        else Judgement(Verdict.UNVERIFIED, "none", str(other), None, None)
        for one in found
    )


def _beyond(evidence: Evidence) -> str | None:
    """Why nothing can be said whatever is computed; the programs of steps that follow a NaN would take long for it."""
    if is_nan_given(evidence):
        return NO_NUMBER_GIVEN
    step = boundless_step(evidence.program)
    return untested(evidence.program) if step is None else NO_VALUE.format(op=step)


def _as_meant(evidence: Evidence, options: Options) -> tuple[Judgement, ...]:
    """If every op means what it did."""
    try:
        evidence, measurements = measured(evidence)
    except (NoDerivative, NotSupported, BeyondMemory) as error:
        return tuple(_without_reference(observed, str(error)) for observed in evidence.observed)
    if not measurements:
        return _exactly(evidence, options)
    # An error bar does not shrink with more digits.
    options = replace(options, precision_cap_bits=min(options.precision_cap_bits, FIRST_ARB_BITS))
    return tuple(_by_differences(found, measurements) for found in _exactly(evidence, options))


def _by_differences(found: Judgement, measurements: Sequence[Measurement]) -> Judgement:
    """What rests on differences says so, and claims nothing where even balls find no bound at the point itself."""
    how = "; ".join(dict.fromkeys(str(one) for one in measurements))  # an op may have several results
    if found.oracle != "ball" and found.verdict is not Verdict.MISSING:
        return replace(found, verdict=Verdict.UNVERIFIED, reason=f"{how}, and the rest has no bound there")
    if found.verdict is Verdict.UNVERIFIED and found.comparison is not None:
        limit = as_far_as_it_goes(found.comparison.outcome, found.enclosure, found.reason)
        return replace(found, oracle="differences", reason=f"{how}, {limit}")
    return replace(found, oracle="differences", reason=found.reason or how)


def _exactly(evidence: Evidence, options: Options) -> tuple[Judgement, ...]:
    beside = with_stand_ins(evidence)
    if not beside:
        return _each(evidence, options)
    own, other = (_each(one, options) for one in beside)
    return tuple(map(_agreed, own, other))


def _agreed(first: Judgement, last: Judgement) -> Judgement:
    """What was found with one large number in the place of infinity, if it was found with another one as well."""
    if last.verdict is Verdict.CORRECT and is_infinite(first.reference, last.reference):
        return Judgement(Verdict.UNVERIFIED, "none", INFINITE_TARGET, None, None)
    if last.verdict is first.verdict and agree(first.enclosure, last.enclosure):
        return replace(last, oracle="limit" if last.oracle == "ball" else last.oracle)
    return replace(last, verdict=Verdict.UNVERIFIED, reason=INFINITE_CONSTANT)


def _each(evidence: Evidence, options: Options) -> tuple[Judgement, ...]:
    joint = _judge(evidence, options)
    if entry_count(evidence.program) > CHEAP_ENTRIES or len(evidence.program.inputs) > MAX_INPUTS_ALONE:
        return joint
    if not any(map(_is_odd, joint)):
        return joint
    fixed = with_zeros_fixed(evidence)
    if fixed is not None:
        evidence, joint = fixed, _judge(fixed, options)
    return tuple(_alone(k, judgement, evidence, options) for k, judgement in enumerate(joint))


def _is_odd(judgement: Judgement) -> bool:
    """Whether a closer look may find a derivative after all."""
    return judgement.verdict in (Verdict.UNDEFINED, Verdict.UNVERIFIED) and judgement.reference is not None


def _alone(k: int, joint: Judgement, evidence: Evidence, options: Options) -> Judgement:
    """A gradient is taken with all other inputs held fixed: a point singular in them may be an ordinary one in this."""
    others = set(evidence.program.inputs) - {evidence.wrt[k]}
    if not _is_odd(joint) or not others:
        return joint
    program = evidence.program
    nodes = tuple(replace(node, op="constant") if node.id in others else node for node in program.nodes)
    own = replace(
        evidence,
        program=replace(program, nodes=nodes, inputs=(evidence.wrt[k],)),
        wrt=(evidence.wrt[k],),
        observed=(evidence.observed[k],),
        recorded=(evidence.recorded[k],) if evidence.recorded else (),
    )
    (alone,) = _judge(own, options)
    return joint if alone.verdict is Verdict.UNVERIFIED else alone


def _judge(evidence: Evidence, options: Options) -> tuple[Judgement, ...]:
    try:
        reference = find_reference(evidence, options)
    except (NoDerivative, NotSupported) as error:
        return tuple(_without_reference(observed, str(error)) for observed in evidence.observed)
    except TooDeep as error:
        return _in_float64(evidence, options, str(error))
    except BeyondMemory as error:
        return _in_float64(evidence, options, str(error), str(error))
    meant = recorded_meaning(evidence, reference, options)
    found = tuple(_judgement(k, evidence, reference, meant[k]) for k in range(len(evidence.wrt)))
    found = _witnessed(found, evidence, reference, options)
    is_undecided = is_large(evidence.program) and not reference.refined.decided
    if not is_undecided and not any(one.reason == TOO_WIDE for one in found):
        return found
    instead = _in_float64(evidence, options, "")
    return tuple(
        one if one.verdict is Verdict.CORRECT and _is_open(own) else own for own, one in zip(found, instead)
    )


def _witnessed(
    found: tuple[Judgement, ...], evidence: Evidence, reference: Reference, options: Options
) -> tuple[Judgement, ...]:
    """No verdict rests on a reference that the function itself contradicts."""
    resting = [k for k, one in enumerate(found) if one.verdict in _ON_REFERENCE]
    is_wrong = any(one.verdict is Verdict.WRONG for one in found)
    reasons = contradicted(evidence.program, evidence.wrt, reference, resting, options, accusing=is_wrong)
    return tuple(
        Judgement(Verdict.UNVERIFIED, "none", reasons[k], None, None) if k in reasons else one
        for k, one in enumerate(found)
    )


_ON_REFERENCE = (Verdict.CORRECT, Verdict.INACCURATE, Verdict.WRONG, Verdict.NONFINITE)


def _is_open(judgement: Judgement) -> bool:
    """Whether more time or more digits would have decided."""
    open_ = judgement.comparison is not None and judgement.comparison.outcome == "undecided"
    return judgement.verdict is Verdict.UNVERIFIED and (open_ or judgement.reason == TOO_WIDE)


def _in_float64(evidence: Evidence, options: Options, reason: str, why: str = DEEP) -> tuple[Judgement, ...]:
    """Where no proof is to be had: what can be measured in float64 to be right; of the rest by how much it is off."""
    measured = by_shaking(evidence, options)
    words = how((one for one in measured.values() if one.is_right), why)
    return tuple(
        Judgement(Verdict.CORRECT, "float64", words, measured[k].enclosure, measured[k].comparison)
        if k in measured and measured[k].is_right
        else _without_reference(observed, f"{reason}; {measured[k]}" if k in measured else reason)
        for k, observed in enumerate(evidence.observed)
    )


def _without_reference(observed: Array | None, reason: str) -> Judgement:
    verdict = Verdict.MISSING if observed is None else Verdict.UNVERIFIED
    return Judgement(verdict, "none", reason, None, None)


def _judgement(k: int, evidence: Evidence, reference: Reference, meant: Comparison | None) -> Judgement:
    comparison = reference.comparisons[k]
    verdict, reason = _verdict(k, evidence, reference, meant)
    return Judgement(
        verdict,
        reference.oracles[k],
        reason,
        reference.enclosures[k],
        comparison,
        reference,
        one_sided(reference, k, evidence.wrt[k]),
    )


def _verdict(
    k: int, evidence: Evidence, reference: Reference, meant: Comparison | None
) -> tuple[Verdict, str | None]:
    comparison = reference.comparisons[k]
    if comparison is None:
        return Verdict.MISSING, None
    without = undefined(k, evidence, reference)
    if without is not None:
        return without
    outcome = comparison.outcome
    if outcome == "within":
        op = without_value(evidence, reference.run)
        return (Verdict.CORRECT, None) if op is None else (Verdict.UNVERIFIED, NO_VALUE.format(op=op))
    if outcome == "nonfinite":
        return Verdict.NONFINITE, None
    if outcome == "undecided":
        return (
            Verdict.UNVERIFIED,
            reference.refined.reason or "the enclosure beside the tie is too wide to decide",
        )
    if outcome == "unbounded":
        return Verdict.UNVERIFIED, "exact arithmetic finds no bound for the gradient at this point"
    beyond = None if evidence.gradient_program is None else untested(evidence.gradient_program)
    if meant is None and beyond is not None:
        return Verdict.UNVERIFIED, f"the gradient differs from the true one, but {beyond}"
    if meant is None:
        return Verdict.UNVERIFIED, (
            "the gradient differs from the true one, but the backward ops were not recorded, "
            "so rounding and a wrong rule cannot be told apart"
        )
    if meant.outcome == "within":
        return Verdict.INACCURATE, None
    doubt = rounded_in_the_dark(evidence, k, comparison)
    if doubt is not None:
        return Verdict.UNVERIFIED, doubt
    if meant.outcome in ("beyond", "unbounded"):
        # Unbounded at every precision: what was computed backwards breaks down here in exact arithmetic too.
        return Verdict.WRONG, None
    return Verdict.UNVERIFIED, "the recorded gradient program has no bounded meaning in exact arithmetic"
