"""What a table of modes says: a verdict in one sentence, and advice that was run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradproof.diagnosis import words
from gradproof.ir import types
from gradproof.judge.verdict import Verdict
from gradproof.modes.model import ModeLine, ModeSource, ModesVerdict

BAD = (Verdict.INACCURATE, Verdict.WRONG, Verdict.NONFINITE, Verdict.MISSING)
NOT_THE_MODE = "no mode is right, so that it is not the mode: `gradproof run` or `check` names the cause"
MOST_NAMED = 3  # modes of one framework
_STATES = {
    Verdict.INACCURATE: "inaccurate",
    Verdict.WRONG: "wrong",
    Verdict.NONFINITE: "not finite",
    Verdict.MISSING: "missing",
}


def concluded(
    lines: Sequence[ModeLine],
    sources: Sequence[ModeSource],
    framework: str,
    dtype: str,
    is_whole: bool = True,
) -> ModesVerdict:
    """All agree to their precision; some are inaccurate, from which op on; one is wrong.

    It is about the modes that were run, and says so where the time did not suffice for all.
    """
    every = "all modes" if is_whole else "all modes that were run"
    is_alone = all(line.is_own for line in lines if line.counts == dtype)
    table = _Lines(lines, framework, dtype)
    if any(source.true is None for source in sources):
        return table.unproven(sources, every)
    bad = [line for line in lines if line.verdict in BAD]
    told = [line for line in bad if line.counts == dtype]
    narrow = [line for line in bad if line.counts != dtype]
    open_ = [line for line in lines if line.verdict is Verdict.UNVERIFIED]
    if not bad and open_:
        others = "; all others are right" if len(open_) < len(lines) else ""
        return ModesVerdict("unverified", f"{table.named(open_)} could not be decided{others}")
    if not told:
        agree = f"{every} agree" if not is_alone else "your own run agrees"
        alone = f"; no other mode was run in {dtype}" if is_alone else ""
        return ModesVerdict(
            "agree", f"{agree} with the proven gradient in {dtype}{alone}{table.in_others(narrow)}"
        )
    kind = "wrong" if any(line.verdict is not Verdict.INACCURATE for line in told) else "inaccurate"
    parts = [
        f"{table.named(same)} {'is' if len(same) == 1 else 'are'} {_STATES[verdict]}{_from_where(place, same)}"
        for (verdict, place), same in _together(told)
    ]
    good = [line for line in lines if line.counts == dtype and line.verdict is Verdict.CORRECT]
    parts += [
        f"{table.named(good)} {'agrees' if len(good) == 1 else 'agree'} with the proven gradient"
    ] * bool(good)
    parts += [NOT_THE_MODE] * (not good and not is_alone)
    return ModesVerdict(kind, "; ".join(parts) + table.in_others(narrow), tuple(table.advice()))


@dataclass(frozen=True)
class _Lines:
    lines: Sequence[ModeLine]
    framework: str
    dtype: str

    def unproven(self, sources: Sequence[ModeSource], every: str) -> ModesVerdict:
        """Without a proof it can be said whether modes differ, and not which of them is right."""
        reason = (
            next((source.reason for source in sources if source.true is None), None) or "there is no proof"
        )
        own = [line for line in self.lines if line.dtype == self.dtype]
        apart = [line for line in own if any(cell.gap_ulps for cell in line.cells) and not line.is_own]
        same = f"{every} return the same bits" if len(own) > 1 else "no other mode was run"
        said = f"{self.named(apart)} differ from your own run" if apart else same
        which = "which of them is right" if len(own) > 1 else "whether your own run is right"
        return ModesVerdict("unverified", f"{said}; {which} was not decided: {reason}")

    def named(self, lines: Sequence[ModeLine]) -> str:
        """The modes by name; of another framework than the user's, all of whose modes are meant, only its own."""
        chosen = {(line.framework, line.mode) for line in lines}
        counts = lines[0].counts if lines else ""
        others = dict.fromkeys(line.framework for line in lines if line.framework != self.framework)
        whole = [
            framework
            for framework in others
            if all(
                (one.framework, one.mode) in chosen
                for one in self.lines
                if one.framework == framework and one.counts == counts
            )
        ]
        return mode_names(lines, whole)

    def in_others(self, lines: Sequence[ModeLine]) -> str:
        """What happens in other precisions, together for those in which it is the same."""
        said: dict[str, list[str]] = {}
        for dtype in dict.fromkeys(line.counts for line in lines):
            n_bad = sum(line.counts == dtype for line in lines)
            n_all = sum(line.counts == dtype for line in self.lines)
            some = f"{n_bad} of {n_all} modes {'is' if n_bad == 1 else 'are'}"
            said.setdefault("every mode is" if n_bad == n_all else some, []).append(dtype)
        return "".join(f"; in {words.comma_list(dtypes)} {some} off" for some, dtypes in said.items())

    def advice(self) -> Iterator[str]:
        """What was run and gives the digits back: another mode in the same precision, or a wider precision."""
        own = [line for line in self.lines if line.framework == self.framework]
        bad = [line for line in own if line.counts == self.dtype and line.verdict in BAD]
        good = [line for line in self.lines if line.verdict is Verdict.CORRECT]
        same = [line for line in good if line.framework == self.framework and line.counts == self.dtype]
        wider = [
            line
            for line in good
            if line.framework == self.framework
            and line.mode in {one.mode for one in bad}
            and types.precision_bits(line.dtype) > types.precision_bits(self.dtype)
        ]
        others = [line for line in good if line.framework != self.framework and line.dtype == self.dtype]
        if bad:
            for line in (*same[:2], *wider[:1], *(others[:1] if not same and not wider else ())):
                wide = "" if line.dtype == self.dtype else f" in {line.dtype}"
                yield f"{words.framework_name(line.framework)} {line.title}{wide} returns {_digits(line)}"


def mode_names(lines: Sequence[ModeLine], whole: Sequence[str] = ()) -> str:
    """Modes in a sentence, together for each framework; only its name for those that are meant as a whole."""
    names = []
    for framework in dict.fromkeys(line.framework for line in lines):
        title = words.framework_name(framework)
        modes = list(
            dict.fromkeys(line.title for line in lines if line.framework == framework and line.title)
        )
        if framework in whole or not modes:
            names.append(title)
        else:
            listed = words.capped_list(modes, MOST_NAMED)
            names.append(f"{title} {listed}" if len(modes) == 1 else f"{title} ({listed})")
    return words.comma_list(names)


def _together(lines: Sequence[ModeLine]) -> list[tuple[tuple[Verdict, str], list[ModeLine]]]:
    """The lines of one verdict that are off from the same op on, the worst verdict first."""
    found: dict[tuple[Verdict, str], list[ModeLine]] = {}
    for line in lines:
        found.setdefault((line.verdict, lost_from(line)), []).append(line)
    return sorted(found.items(), key=lambda one: -one[0][0].severity)


def lost_from(line: ModeLine) -> str:
    """From which op on the worst gradient of a line is off, where that was seen."""
    worst = min(line.cells, key=lambda cell: (-cell.verdict.severity, cell.digits or 0.0))
    return "" if worst.lost is None else worst.lost.place


def _from_where(place: str, lines: Sequence[ModeLine]) -> str:
    said = f" ({_digits(lines[0])})" if len(lines) == 1 else ""
    return f"{said}, from {place} on" if place else said


def _digits(line: ModeLine) -> str:
    digits = min((cell.digits for cell in line.cells if cell.digits is not None), default=0.0)
    return words.digits_text(digits, types.digits_possible(line.counts))
