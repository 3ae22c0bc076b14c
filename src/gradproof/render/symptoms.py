"""What people see before they know a cause: each symptom with what it means and where to look."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Symptom:
    """A symptom by the word people search for, in prose, and the causes it may come from, the most frequent first."""

    name: str
    title: str
    paragraphs: tuple[str, ...]
    causes: tuple[str, ...] = ()


_AUDIT = "`gradproof run SCRIPT` names the cause and its line."

SYMPTOMS = (
    Symptom(
        "nan",
        "the gradient, or the loss, is NaN or infinite",
        (
            "The loss can be finite and its gradient NaN: going backward, an infinite slope meets a zero, and 0 "
            "times infinity is NaN. One NaN in a gradient spoils every weight at the next step, so that the first "
            "one matters and not the one that is noticed.",
            f"{_AUDIT} Without the time for checks, `--budget 0` still names the first line that returns NaN.",
        ),
        (
            "masked-branch",
            "invalid-domain",
            "singular-point",
            "cancellation",
            "overflow",
            "underflow",
            "absorption",
            "exploding",
            "custom-gradient",
        ),
    ),
    Symptom(
        "none",
        "the gradient is None, or missing",
        (
            "None does not mean zero. It says that the framework has no recorded path from the target back to the "
            "source: the source was not watched, or the path is broken somewhere.",
            f"{_AUDIT} Where the numbers left the framework and came back, both places are shown.",
        ),
        (
            "not-watched",
            "not-connected",
            "outside-tape",
            "left-framework",
            "reassigned-variable",
            "discrete-op",
            "integer-dtype",
            "no-gradient-registered",
            "stop-gradient",
        ),
    ),
    Symptom(
        "zero",
        "the gradient is exactly zero, or so small that nothing trains",
        (
            "Exactly zero is a statement about the function: here it does not change when the source does. A unit "
            "is saturated or dead, a clip is active, a rounding makes steps, or a factor became zero in its dtype. "
            "Small but not zero is a matter of scale.",
            "A gradient that is correct and zero is said to be so: the framework is right, and the model will not "
            "train.",
        ),
        (
            "vanishing",
            "underflow",
            "absorption",
            "discrete-op",
            "not-connected",
            "stop-gradient",
            "baked-constant",
            "low-precision",
        ),
    ),
    Symptom(
        "differs",
        "the gradient differs from a finite difference, from another framework, or from the last run",
        (
            "Either of the two can be wrong. A difference has an error of its own, from its step and from rounding; "
            "a gradient has one from rounding, from a hand-written rule, or from a point at which there is no slope.",
            "`gradproof check FILE:FUNCTION --at VALUES` compares the gradient with a proven one and "
            "says how many digits agree; `gradproof.gradient_check_numerical` judges the step of a difference.",
        ),
        (
            "custom-gradient",
            "framework-rule",
            "straight-through",
            "kink",
            "jump",
            "branch-flip",
            "cancellation",
            "accumulation",
            "ill-conditioned",
            "low-precision",
            "execution-mode",
            "impure",
            "silent-broadcast",
            "stale-accumulation",
            "step-size",
            "tolerance",
        ),
    ),
    Symptom(
        "slow",
        "the program, or its checks, take too long",
        (
            "Under `gradproof run` a line that computes gradients is checked at its 1st, 2nd, 10th, 100th execution. "
            "What the checks have cost is said at the end, and a line on the terminal shows a check that takes long.",
            "`--checks first` checks every line once. `--budget 60` ends all checks after 60 s in total; what was "
            "not reached is listed as unverified. `Options(seconds=...)` limits one check.",
            "A program that becomes slower from step to step without gradproof records more and more for each "
            "gradient.",
        ),
        ("graph-grows", "stale-accumulation"),
    ),
    Symptom(
        "crash",
        "the program ends with an exception that has to do with a gradient",
        (
            "An optimiser that is handed None, a name that a framework does not have any more, a function that "
            "cannot be traced: `gradproof run` prints the traceback as Python does, and above the report "
            "`error[crash]` explains the exception, where it is understood, with the line to change.",
            "The exit status is 1 if a gradient is at fault, otherwise that of the program. What was computed "
            "before the exception is in the report.",
            "A fault of gradproof itself is called so in the report, and never changes what the program does. "
            "`gradproof doctor --report report.json` prints what an issue about it needs, of a report that `--json` "
            "has written.",
        ),
        ("not-watched", "not-connected", "no-gradient-registered", "left-framework"),
    ),
)


def symptom(name: str) -> Symptom | None:
    """The symptom of that name."""
    return next((one for one in SYMPTOMS if one.name == name), None)
