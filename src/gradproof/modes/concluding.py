"""What a table of modes says: a verdict in one sentence, and advice that was run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradproof.diagnosis import words
from gradproof.diagnosis.parting import Parting
from gradproof.ir import types
from gradproof.judge.verdict import Verdict
from gradproof.modes.model import ModeLine, ModeSource, ModesVerdict

BAD = (Verdict.INACCURATE, Verdict.WRONG, Verdict.NONFINITE, Verdict.MISSING)
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
    table = _Lines(lines, framework, dtype)
    if any(source.true is None for source in sources):
        return table.unproven(sources, every)
    bad = [line for line in lines if line.verdict in BAD]
    told = [line for line in bad if line.counts == dtype]
    narrow = [line for line in bad if line.counts != dtype]
    open_ = [line for line in lines if line.verdict is Verdict.UNVERIFIED]
    if not bad and open_:
        return ModesVerdict("unverified", f"{table.named(open_)} could not be decided; all others are right")
    if not told:
        return ModesVerdict(
            "agree", f"{every} agree with the proven gradient in {dtype}{table.in_others(narrow)}"
        )
    kind = "wrong" if any(line.verdict is not Verdict.INACCURATE for line in told) else "inaccurate"
    parts = [
        f"{table.named(same)} {'is' if len(same) == 1 else 'are'} {_STATES[verdict]}{_from_where(same)}"
        for verdict, same in _by_verdict(told)
    ]
    good = [line for line in lines if line.counts == dtype and line.verdict is Verdict.CORRECT]
    parts += [
        f"{table.named(good)} {'agrees' if len(good) == 1 else 'agree'} with the proven gradient"
    ] * bool(good)
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
        return ModesVerdict("unverified", f"{said}; which of them is right was not decided: {reason}")

    def named(self, lines: Sequence[ModeLine]) -> str:
        """The modes by name; of another framework than the user's, all of whose modes are meant, only its own."""
        chosen = {(line.framework, line.mode) for line in lines}
        names: list[str] = []
        for framework in dict.fromkeys(line.framework for line in lines):
            every = [
                one for one in self.lines if one.framework == framework and one.counts == lines[0].counts
            ]
            title = words.framework_name(framework)
            modes = dict.fromkeys(line.title for line in lines if line.framework == framework)
            is_all = framework != self.framework and all((one.framework, one.mode) in chosen for one in every)
            names.append(
                title if is_all or not any(modes) else f"{title} {words.capped_list(list(modes), 3)}"
            )
        return words.comma_list(names)

    def in_others(self, lines: Sequence[ModeLine]) -> str:
        """What happens in other precisions, in one clause each."""
        said = []
        for dtype in dict.fromkeys(line.counts for line in lines):
            n_bad = sum(line.counts == dtype for line in lines)
            n_all = sum(line.counts == dtype for line in self.lines)
            how_many = "every mode is" if n_bad == n_all else f"{n_bad} of {n_all} modes are"
            said.append(f"in {dtype} {how_many} off")
        return "".join(f"; {one}" for one in said)

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


def _by_verdict(lines: Sequence[ModeLine]) -> list[tuple[Verdict, list[ModeLine]]]:
    order = sorted({line.verdict for line in lines}, key=lambda verdict: -verdict.severity)
    return [(verdict, [line for line in lines if line.verdict is verdict]) for verdict in order]


def _from_where(lines: Sequence[ModeLine]) -> str:
    """From which op on, where that was seen and is the same for all."""
    said = f" ({_digits(lines[0])})" if len(lines) == 1 else ""
    found = {tuple(_place(one) for one in decisive(line)[:1]) for line in lines}
    (places, *others) = found
    return f"{said}, from {places[0]} on" if places and places[0] and not others else said


def _place(parting: Parting) -> str:
    if parting.span is None:
        return ""
    of = "the derivative of " if parting.phase == "backward" else ""
    return f"{of}line {parting.span.line}"


def decisive(line: ModeLine) -> list[Parting]:
    """The ops that matter in a line: of each gradient the last parting that was told."""
    return [cell.partings[-1] for cell in line.cells if cell.partings]


def _digits(line: ModeLine) -> str:
    digits = min((cell.digits for cell in line.cells if cell.digits is not None), default=0.0)
    return words.digits_text(digits, types.digits_possible(line.counts))
