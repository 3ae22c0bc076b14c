"""A verdict as a word with a sign and a colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradproof.diagnosis.report import GradientReport
from gradproof.judge.verdict import Verdict
from gradproof.render.html.markup import Html, tag

# A sign repeats what the colour says, for those who do not see it and on paper.
SIGNS = {
    Verdict.CORRECT: "✓",
    Verdict.UNVERIFIED: "?",
    Verdict.UNDEFINED: "∧",
    Verdict.INACCURATE: "≈",
    Verdict.MISSING: "∅",
    Verdict.NONFINITE: "∞",
    Verdict.WRONG: "✗",
}


def verdict_badge(verdict: Verdict, intended: bool = False, explained: bool = False) -> Html:
    """The verdict with its sign; where it is explained, the meaning appears when it is pointed at."""
    words = f"{verdict}, intended" if intended else str(verdict)
    sign = tag("span", SIGNS[verdict], aria_hidden="true")
    level = "intended" if intended else str(verdict)
    return tag(
        "span", sign, " ", words, class_=f"verdict {level}", title=verdict.sentence if explained else None
    )


def call_badges(gradients: Sequence[tuple[int, GradientReport]]) -> Html:
    """What became of the gradients of one call, beside its line; each leads to the first of its kind."""
    first: dict[Verdict, int] = {}
    for k, gradient in gradients:
        first.setdefault(gradient.verdict, k)
    counts = Counter(gradient.verdict for _, gradient in gradients)
    return tag(
        "span",
        *(
            tag("a", f"{counts[verdict]:,} ", verdict_badge(verdict), href=f"#g{k}")
            for verdict, k in sorted(first.items(), key=lambda item: -item[0].severity)
        ),
        class_="calls",
    )
