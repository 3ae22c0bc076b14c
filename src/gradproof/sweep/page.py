"""What a sweep has found as a page in Markdown: counts, then one row per fault with what reproduces it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradproof.diagnosis.words import framework_name
from gradproof.sweep.find import KINDS

Result = Mapping[str, Any]
MEANINGS = {
    "wrong": "differs from the derivative, and more precision would not help",
    "nonfinite": "NaN or infinity though the derivative is a number",
    "inaccurate": "rounding has destroyed more digits than the input's own roundings explain",
    "missing": "no gradient though the function has one",
    "mode-dependent": "right in the ordinary mode and not in another one",
}


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
        "no derivative, values that the dtype does not hold, and errors that roundings of the input alone explain.",
        "",
    ]


def _counts(by_library: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    yield "| library | ops swept | gradients judged | " + " | ".join(KINDS) + " |"
    yield "|---|---|---|" + "---|" * len(KINDS)
    for framework, own in by_library.items():
        kinds = Counter(fault["kind"] for result in own for fault in result["faults"])
        judged = sum(sum(result["verdicts"].values()) for result in own)
        n_all = max(result.get("of", 0) for result in own)
        swept = f"{len(own):,} of {n_all:,}" if n_all > len(own) else f"{len(own):,}"
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
    faults = [(result, fault) for result in own for fault in result["faults"]]
    verdicts: Counter[str] = sum((Counter(result["verdicts"]) for result in own), Counter())
    told = ", ".join(f"{verdict} {count:,}" for verdict, count in verdicts.most_common())
    left = max(result.get("of", 0) for result in own) - len(own)
    if left > 0:
        yield f"**Not swept to its end**: {left:,} ops are left, and `gradproof sweep {framework}` goes on with them."
        yield ""
    yield f"{len(own):,} ops; verdicts: {told or 'none'}."
    if not faults:
        return
    yield ""
    yield "| op | kind | dtype | at | call | returned | derivative | reproduce |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from (_row(framework, result, fault) for result, fault in sorted(faults, key=_order))


def _order(pair: tuple[Result, Mapping[str, Any]]) -> tuple[int, str, str]:
    """The graver kinds first; faults that have one rule to blame stand together."""
    result, fault = pair
    return KINDS.index(fault["kind"]), fault["rule"], result["op"]


def _row(framework: str, result: Result, fault: Mapping[str, Any]) -> str:
    mode = f" ({fault['mode']})" if fault["mode"] else ""
    how = f"--dtypes {fault['dtypes'][0]} --points {fault['points'][0]}"
    command = f"gradproof sweep {framework} --ops {result['op']} {how}"
    cells = [
        f"`{result['op']}`", fault["kind"] + mode, ", ".join(fault["dtypes"]), ", ".join(fault["points"]),
        f"`{_call(fault)}`", _number(fault["observed"]), _number(fault["expected"]), f"`{command}`",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def _call(fault: Mapping[str, Any]) -> str:
    return str(fault["call"]).replace("|", "\\|")


def _number(text: str | None) -> str:
    return "None" if text is None else f"{float(text):.7g}"
