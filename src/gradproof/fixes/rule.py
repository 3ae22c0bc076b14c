"""What a rewrite rule is: two expressions that are equal, where they are, and where the first one loses digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Range = tuple[float, float]
ANYWHERE: Range = (-3.0, 3.0)
POSITIVE: Range = (0.01, 3.0)
UNIT: Range = (-0.95, 0.95)
ABOVE_ONE: Range = (1.01, 3.0)


@dataclass(frozen=True)
class RewriteRule:
    """`pattern` and `replacement` name ops; names in capitals stand for the same number in both.

    `text` is the change as one imperative clause. `domain` has the ranges in which both are defined (ANYWHERE if
    not given), and `guilty` a point at which the pattern loses digits, or None for a rule that only prepares another.
    `elsewhere` says for which inputs the two differ although the pattern is defined; empty means for none.
    """

    pattern: str
    replacement: str
    text: str
    domain: Mapping[str, Range] = field(default_factory=dict)
    guilty: Mapping[str, float] | None = None
    elsewhere: str = ""


RULES: list[RewriteRule] = []


def rule(
    pattern: str,
    replacement: str,
    text: str,
    guilty: Mapping[str, float] | None = None,
    elsewhere: str = "",
    **domain: Range,
) -> RewriteRule:
    """Enter a rule into the table; ranges are given by the names they are for."""
    RULES.append(RewriteRule(pattern, replacement, text, domain, guilty, elsewhere))
    return RULES[-1]
