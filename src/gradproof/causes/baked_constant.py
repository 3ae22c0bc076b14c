"""A Python value was frozen into a traced function and has changed since.

What it finds
    A compiled or traced function that read a Python number, flag, attribute or item when it was traced, where that
    name has another value by the time the gradient is computed; or that drew random numbers of Python's or NumPy's
    when it was traced and is called again.

Why it spoils a gradient
    A function is traced once: Python runs, and what it reads becomes a constant of the graph. Later changes of the
    name have no effect. The gradient is right for the old value, which is not the one the program now shows.

Example
    temperature = 1.0
    @tf.function
    def energy(x):
        return tf.reduce_sum(x * x) / temperature
    energy(x)
    temperature = 0.25                      # has no effect

Write instead
    temperature = tf.Variable(1.0)          # read anew in every call
    temperature.assign(0.25)

Stays silent when
    the value is still the one that was read; or
    it is a variable or an argument, which is read anew in every call; or
    a number that was read does not occur in the graph.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.frameworks import framework
from gradproof.ir.surroundings import Baked
from gradproof.judge.verdict import Verdict


def find(case: Case) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for baked in case.capture.around.baked:
        if baked.name in seen:
            continue
        seen.add(baked.name)
        if baked.is_drawn:
            yield _drawn_once(case, baked)
        elif baked.before:
            yield _diagnose(case, baked)
        elif case.verdict is Verdict.WRONG and baked.name == case.source.name:
            yield _other_variable(case, baked)


def _diagnose(case: Case, baked: Baked) -> Diagnostic:
    by_variable = framework(case.capture.framework).changeable
    return Diagnostic(
        kind="baked-constant",
        severity="warning",
        certainty="measured",
        headline=f"`{baked.function}` still uses {baked.name} = {baked.before}, which is {baked.now} by now",
        primary=annotated(baked.span, f"read once, when it was {baked.before}"),
        subject=f"`{baked.name}`",
        evidence=(("when traced", baked.before), ("now", baked.now)),
        why=(
            f"`{baked.function}` was traced once. What Python read then became a constant of its graph, and `"
            f"{baked.name}` was {baked.before}. It has changed since, and the graph has not: value and gradient are "
            "those of the old number."
        ),
        fix=Fix(f"pass `{baked.name}` as an argument{by_variable}"),
    )


def _drawn_once(case: Case, baked: Baked) -> Diagnostic:
    library = framework(case.capture.framework).random
    return Diagnostic(
        kind="baked-constant",
        severity="warning",
        certainty="measured",
        headline=f"`{baked.function}` uses the same random numbers in every call",
        primary=annotated(baked.span, "draws once, while it is traced"),
        subject=f"`{baked.name}`",
        why=(
            f"`{baked.function}` was traced once. `{baked.name}` was asked for numbers then, they became constants of "
            "its graph, and this later call has used the same ones: value and gradient are those of that one draw."
        ),
        fix=Fix(
            f"draw with `{library}` inside the function, or draw outside and pass the numbers as an argument"
        ),
    )


def _other_variable(case: Case, baked: Baked) -> Diagnostic:
    name = baked.name
    return Diagnostic(
        kind="baked-constant",
        severity="error",
        certainty="measured",
        headline=f"`{baked.function}` was traced with another variable instead of `{name}`",
        primary=annotated(baked.span, f"asks for `{name}`, in a trace made for another"),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            "A function is traced once for each kind of argument, and two variables of one shape are one kind. This "
            f"trace was made with another variable, and it also uses `{name}` by its name. Called with `{name}`, it "
            "has the same variable in two places and takes the gradient for one of them."
        ),
        fix=Fix("let the function return the gradients for all its variables, and choose among them outside"),
    )


CAUSE = Cause(name="baked-constant", find=find, doc=__doc__ or "", on=(Occasion.AROUND,))
