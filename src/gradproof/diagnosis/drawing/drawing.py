"""Draws all pictures of one gradient, within the time that is left for them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gradproof.diagnosis.drawing.line import Line, line_through
from gradproof.diagnosis.drawing.modes import ModeEntry, in_other_modes, in_other_precisions, observed_gaps
from gradproof.diagnosis.drawing.shorten import significant
from gradproof.diagnosis.drawing.sketch import Sketch, shared_outline
from gradproof.diagnosis.drawing.slices import draw_slice
from gradproof.diagnosis.drawing.steps import draw_steps
from gradproof.diagnosis.figures import Figures, ModeRow, Passage, Slice, StepCurve
from gradproof.diagnosis.growth import passages
from gradproof.diagnosis.words import framework_name
from gradproof.ir.program import prune

SECONDS_EACH = 0.4  # for the curves of one gradient
LEAST_SECONDS = 0.02  # with less left no curve is begun
MOST_PASSAGES = 12  # lines; of more the ones that change the gradient least are left out


@dataclass(eq=False)
class Allowance:
    """The seconds that are left for the pictures of one report; a gradient without faults gets few of them."""

    plain: float = 0.2
    others: float = 10.0

    def left(self, is_plain: bool) -> float:
        return min(SECONDS_EACH, self.plain if is_plain else self.others)

    def spend(self, is_plain: bool, seconds: float) -> None:
        if is_plain:
            self.plain -= seconds
        else:
            self.others -= seconds


def draw(sketch: Sketch, seconds: float) -> Figures:
    """All pictures that can be made; for the others the reason why not."""
    program = sketch.gradient_program or sketch.program
    outline = sketch.outline if program is None else shared_outline(program, sketch.names)
    curves = _curves(sketch, seconds)
    lacking = {name: found for name, found in curves.items() if isinstance(found, str)}
    if outline is None:
        lacking["program"] = sketch.too_large or "no program was recorded"
    slice, steps = curves["slice"], curves["steps"]
    return Figures(
        slice=slice if isinstance(slice, Slice) else None,
        steps=steps if isinstance(steps, StepCurve) else None,
        passages=_passages(sketch),
        modes=tuple(_modes(sketch, seconds)),
        program=None if outline is None else outline.view,
        guilty=sketch.guilty,
        shares=dict(sketch.shares),
        lacking=lacking,
    )


def _curves(sketch: Sketch, seconds: float) -> dict[str, Slice | StepCurve | str]:
    line, reason = _line(sketch)
    if line is None:
        return {"slice": reason, "steps": reason}
    if seconds < LEAST_SECONDS:
        spent = "the time for pictures was used up by those of other gradients"
        return {"slice": spent, "steps": spent}
    name = _entry_name(sketch)
    true = sketch.true
    slope = (
        float(true.mid[sketch.index]) if true is not None and np.isfinite(true.rad[sketch.index]) else np.nan
    )
    start = time.thread_time()
    steps = draw_steps(line, name, slope, seconds / 4, sketch.used_step)
    left = seconds - (time.thread_time() - start)
    return {"slice": draw_slice(line, name, sketch.seeks_noise, left), "steps": steps}


def _line(sketch: Sketch) -> tuple[Line | None, str]:
    source = sketch.source
    if sketch.program is None:
        return None, sketch.too_large or "no program was recorded"
    if source.node is None:
        return None, f"what was recorded does not lead from `{source.name}` to the target"
    if 0 in source.shape:
        return None, f"`{source.name}` is empty"
    return line_through(
        sketch.program, sketch.gradient_program, source.node, source.recorded, sketch.index
    ), ""


def _entry_name(sketch: Sketch) -> str:
    return sketch.source.name + (f"[{', '.join(map(str, sketch.index))}]" if sketch.index else "")


def _passages(sketch: Sketch) -> tuple[Passage, ...]:
    found = sketch.passages
    if not found and sketch.program is not None and sketch.source.node is not None:
        found = passages(sketch.program, sketch.source.node)
    return tuple(
        replace(passage, sizes=tuple(significant(passage.sizes).tolist()))
        for passage in found[:MOST_PASSAGES]
    )


def _modes(sketch: Sketch, seconds: float) -> Iterator[ModeRow]:
    """As it ran, as it runs otherwise, and what is proven."""
    source, entry = sketch.source, ModeEntry(sketch.index, sketch.source.shape, sketch.true)
    if 0 in source.shape:
        return
    if source.observed is not None:
        row = entry.row(f"{framework_name(sketch.framework)}, as it ran", source.observed, source.dtype)
        if row is not None:
            yield row
    if seconds >= LEAST_SECONDS:
        yield from _reruns(sketch, entry)
    yield from observed_gaps(sketch.mode_gaps)
    yield from entry.proven()


def _reruns(sketch: Sketch, entry: ModeEntry) -> Iterator[ModeRow]:
    source, backward = sketch.source, sketch.gradient_program
    if backward is not None and source.recorded is not None:
        yield from in_other_precisions(
            entry, prune(backward, [source.recorded]), source.recorded, source.dtype
        )
    if sketch.program is not None and source.node is not None:
        yield from in_other_modes(entry, sketch.program, source.node, sketch.replays)
