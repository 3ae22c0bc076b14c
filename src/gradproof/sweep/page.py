"""What a sweep has found as a page in Markdown: counts, then one row per fault with what reproduces it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gradproof.diagnosis.words import framework_name
from gradproof.sweep.find import KINDS

Result = Mapping[str, Any]
Fault = Mapping[str, Any]
MEANINGS = {
    "wrong": "differs from the derivative, and more precision would not help",
    "nonfinite": "NaN or infinity though the derivative is a number",
    "inaccurate": "rounding has destroyed more digits than the input's own roundings explain",
    "missing": "no gradient though the function has one",
    "mode-dependent": "right in the ordinary mode and not in another one",
}


# Of these the rule itself is the root, whatever ops are made with it; of the others, what an op computes on the way.
_OF_A_RULE = ("framework-rule", "no-gradient-registered")
_OUT_OF_RANGE = ("overflow", "underflow")


@dataclass(frozen=True)
class Root:
    """Faults of one library that have one root: the first stands for all."""

    kind: str
    mode: str | None
    cause: str
    order: int
    faults: tuple[tuple[Result, Fault], ...]

    @property
    def ops(self) -> list[str]:
        return list(dict.fromkeys(result["op"] for result, _ in self.faults))

    def all_of(self, field: str) -> list[str]:
        """What the faults have in a field that is a list, each once."""
        return list(dict.fromkeys(one for _, fault in self.faults for one in fault[field]))


def roots_of(results: Iterable[Result]) -> list[Root]:
    """The graver kinds first, then by cause and op."""
    found: dict[tuple[Any, ...], list[tuple[Result, Fault]]] = {}
    for result in results:
        for fault in result["faults"]:
            found.setdefault(_root_key(result, fault), []).append((result, fault))
    return sorted(
        map(_root, found.values()),
        key=lambda one: (one.order, KINDS.index(one.kind), one.mode or "", one.cause, one.ops[0].lower()),
    )


def _root(own: list[tuple[Result, Fault]]) -> Root:
    result, fault = own[0]
    return Root(fault["kind"], fault["mode"], fault["cause"], _order(result), tuple(own))


def _order(result: Result) -> int:
    return int(result.get("order", 1))


def _root_key(result: Result, fault: Fault) -> tuple[Any, ...]:
    """What one root has in common: a rule that several ops use, or the op, under whatever names the library has it.

    Roundings within an op are one root, wherever it was first seen; numbers that leave the range of the dtype another.
    """
    kind, cause = fault["kind"], fault["cause"]
    how = _order(result), kind, fault["mode"]
    if kind != "inaccurate" and cause in _OF_A_RULE and fault["rule"]:
        return *how, cause, fault["rule"]
    same = cause if kind == "wrong" or (kind == "inaccurate" and cause in _OUT_OF_RANGE) else ""
    return *how, same, _plain_name(result["op"])


def _plain_name(op: str) -> str:
    """`lib.raw.Exp`, `lib.math.exp` and `lib.exp` are one function, and `arcsinh` is `asinh`.

    The functions of two distributions are two, though both are called `cdf`.
    """
    of_distribution = op.rpartition(".stats.")[2] if ".stats." in op else ""
    name = (of_distribution or op.rpartition(".")[2]).replace("_", "").lower()
    return f"a{name[3:]}" if name.startswith("arc") else name


def to_page(results: Iterable[Result]) -> str:
    """All libraries of a directory on one page."""
    by_library: dict[str, list[Result]] = {}
    for result in results:
        by_library.setdefault(result["framework"], []).append(result)
    lines = ["# Faults that a sweep has found", "", *_introduction(), *_counts(by_library)]
    for framework, own in by_library.items():
        lines += _library(framework, own)
    return "\n".join(lines) + "\n"


def _introduction() -> list[str]:
    return [
        "Made by `gradproof sweep`. Every row is a gradient that a library returned for one of its own",
        "ops and that is proven not to be the derivative at that point. The expected value is confirmed by differences",
        "of the op's exact meaning in 284 bits, which use no derivative rule. Left out are points where a function has",
        "no derivative, parameters outside of the domain of a distribution, values that the dtype does not hold, and",
        "errors that roundings of the input alone explain.",
        "Subnormal inputs count as the numbers they are, unless the library returns there what it returns for zero.",
        "Faults with one root are one row; `gradproof sweep LIBRARY` with the options in the last column finds it",
        "again, and `--issues DIR` writes the smallest script that shows it.",
        "",
    ]


def _counts(by_library: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    yield "| library | ops swept | gradients judged | " + " | ".join(KINDS) + " |"
    yield "|---|---|---|" + "---|" * len(KINDS)
    for framework, own in by_library.items():
        kinds = Counter(root.kind for root in roots_of(own))
        judged = sum(sum(result["verdicts"].values()) for result in own)
        n_ops, n_all = len({result["op"] for result in own}), max(result.get("of", 0) for result in own)
        swept = f"{n_ops:,} of {n_all:,}" if n_all > n_ops else f"{n_ops:,}"
        cells = [
            _title(framework, own),
            swept,
            f"{judged:,}",
            *(str(kinds[kind]) for kind in KINDS),
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield from (f"- *{kind}*: {meaning}" for kind, meaning in MEANINGS.items())


def _title(framework: str, own: Sequence[Result]) -> str:
    return f"{framework_name(framework)} {own[0]['version']}"


def _library(framework: str, own: Sequence[Result]) -> Iterator[str]:
    yield from ("", f"## {_title(framework, own)}", "")
    verdicts: Counter[str] = sum((Counter(result["verdicts"]) for result in own), Counter())
    told = ", ".join(f"{verdict} {count:,}" for verdict, count in verdicts.most_common())
    n_ops = len({result["op"] for result in own})
    left = max(result.get("of", 0) for result in own) - n_ops
    if left > 0:
        yield f"**Not swept to its end**: {left:,} ops are left, and `gradproof sweep {framework}` goes on with them."
        yield ""
    second = sum(_order(result) == 2 for result in own)
    also = f", {second:,} of them in second order too" if second else ""
    yield f"{n_ops:,} ops{also}; verdicts: {told or 'none'}."
    for heading, roots in groupby(roots_of(own), _heading):
        yield from ("", f"**{heading}**", "")
        yield "| op | call | returned | derivative | dtype | at | again |"
        yield "|---|---|---|---|---|---|---|"
        yield from map(_row, roots)


def _heading(root: Root) -> str:
    told = f"{root.kind} ({root.mode})" if root.mode else f"{root.kind}: {root.cause}".removesuffix(": ")
    return told if root.order == 1 else f"second order, {told}"


def _row(root: Root) -> str:
    _, fault = root.faults[0]
    dtypes, points = root.all_of("dtypes"), root.all_of("points")
    again = f"--ops {root.ops[0]} --dtypes {fault['dtypes'][0]} --points {fault['points'][0]}"
    again += "" if root.order == 1 else f" --order {root.order}"
    cells = [
        ", ".join(f"`{op}`" for op in root.ops), f"`{_call(fault)}`", _number(fault["observed"]),
        _number(fault["expected"]), ", ".join(dtypes), ", ".join(points), f"`{again}`",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def _call(fault: Fault) -> str:
    return str(fault["call"]).replace("|", "\\|")


def _number(text: str | None) -> str:
    return "None" if text is None else f"{float(text):.7g}"
