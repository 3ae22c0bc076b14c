"""The pictures of one gradient: slice, error against step, sizes along a loop."""

from __future__ import annotations

import math

import numpy as np

from gradproof.diagnosis.figures import Passage, Slice, StepCurve
from gradproof.diagnosis.words import count, significant
from gradproof.ir.types import Array
from gradproof.render.html.markup import Html, join, plain_words, prose, tag
from gradproof.render.html.svg import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    curve,
    dots,
    frame,
    linear,
    logarithmic,
    outside,
    picture,
)

# A computed value may be wrong by any factor. The scale follows the proven curve and gives the computed one
# this many times its range; what lies beyond is marked at the edge.
MOST_BEYOND = 4.0
# Below this part of its own size a range cannot be told from its ticks: they then show the difference.
LEAST_RANGE = 1e-4
LEAST_ERROR = 1e-17  # a relative error of zero has no logarithm; half a unit of float64 is 1e-16


def slice_figure(data: Slice) -> Html:
    """Value above, slope below, along one line: proven as a line, computed as dots."""
    with np.errstate(all="ignore"):  # infinities may be among the values; they are drawn at the edge
        upper = _slice_part(data, "value", data.proven_value, data.computed_value)
        lower = _slice_part(data, "slope", data.proven_slope, data.computed_slope)
    lost = int(np.count_nonzero(~np.isfinite(data.computed_slope)))
    remark = f" The computed slope is not finite at {count(lost, 'point')}." if lost else ""
    caption = join(
        [
            tag("span", "proven", class_="key proven"),
            tag("span", prose(data.computed_by), class_="key computed"),
            tag(
                "span",
                prose(
                    f"The function and its slope {_along(data.direction)}; the point itself is at 0.{remark}"
                ),
            ),
        ]
    )
    return _figure("Slice through the point", caption, upper, lower)


def _slice_part(data: Slice, what: str, proven: Array, computed: Array) -> Html:
    """One of the two curves; a value that hardly changes is shown as the difference from its middle."""
    base = _base(proven)
    shown, found = proven - base, computed - base
    x = linear(data.t.tolist(), LEFT, WIDTH - RIGHT)
    x = Scale(float(np.min(data.t)), float(np.max(data.t)), x.start, x.end) if np.ptp(data.t) > 0 else x
    y = _slice_scale(shown, found)
    words = what if base == 0 else f"{what} minus {significant(base, 8)}"
    worst = _worst_gap(proven, computed)
    return picture(
        f"{what} along the line",
        f"proven from {_limits(proven)}; computed from {_limits(computed)}; largest distance {worst}",
        frame(x, y, plain_words(f"t {_along(data.direction)}") if what == "slope" else ""),
        tag("text", words, x=LEFT, y=TOP - 1, class_="tick words"),
        tag("line", x1=f"{x(0):.1f}", x2=f"{x(0):.1f}", y1=y.start, y2=y.end, class_="here")
        if x.low <= 0 <= x.high
        else Html(""),
        dots(x, y, data.t, found, "computed"),
        outside(x, y, data.t, found, "computed"),
        curve(x, y, data.t, shown, "proven"),  # thinner than the dots, hence on top of them
    )


def _slice_scale(proven: Array, computed: Array) -> Scale:
    trusted = proven[np.isfinite(proven)]
    seen = computed[np.isfinite(computed)]
    start, end = HEIGHT - BOTTOM, TOP + 6
    if not trusted.size:
        return linear(seen.tolist(), start, end)
    low, high = float(trusted.min()), float(trusted.max())
    room = MOST_BEYOND * ((high - low) or abs(low) or 1.0)
    kept = seen[(seen >= low - room) & (seen <= high + room)]
    return linear([low, high, *kept.tolist()], start, end)


def _base(values: Array) -> float:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0
    size, extent = float(np.max(np.abs(finite))), float(np.ptp(finite))
    return float(np.median(finite)) if 0 < extent < LEAST_RANGE * size else 0.0


def steps_figure(data: StepCurve) -> Html:
    """The error of a difference against its step: too large on the right, rounding on the left."""
    errors = np.where(np.isnan(data.errors), np.nan, np.maximum(data.errors, LEAST_ERROR))
    marks = [data.used] if data.used is not None and data.used > 0 else []
    x = logarithmic([*data.steps.tolist(), *marks], LEFT, WIDTH - RIGHT)
    y = logarithmic(errors.tolist(), HEIGHT - BOTTOM, TOP + 6)
    parts = [frame(x, y, "step"), tag("text", "relative error", x=LEFT, y=TOP - 1, class_="tick words")]
    if data.usable is not None:
        low, high = (min(max(edge, x.low), x.high) for edge in data.usable)
        wide = max(x(high) - x(low), 2.0)
        parts.insert(
            0,
            tag(
                "rect",
                x=f"{x(low):.1f}",
                y=y.end,
                width=f"{wide:.1f}",
                height=y.start - y.end,
                class_="usable",
            ),
        )
    parts += [curve(x, y, data.steps, errors, "computed"), dots(x, y, data.steps, errors, "computed")]
    for used in marks:
        at = f"{x(used):.1f}"
        parts.append(tag("line", x1=at, x2=at, y1=y.start, y2=y.end, class_="used"))
        anchor = "end" if x(used) > WIDTH / 2 else "start"
        nudge = -5 if anchor == "end" else 5
        parts.append(
            tag("text", "used", x=f"{x(used) + nudge:.1f}", y=y.end + 10, class_="tick", text_anchor=anchor)
        )
    said = _steps_words(data)
    return _figure(
        "Error of a finite difference against its step",
        prose(said),
        picture("error against step", plain_words(said), *parts),
    )


def _steps_words(data: StepCurve) -> str:
    told = [f"Central difference {_along(data.direction)}."]
    if data.usable is None:
        told.append("No step is good enough.")
    else:
        low, high = (significant(edge, 2) for edge in data.usable)
        good = f", to {significant(data.usable_to, 1)}" if data.usable_to > 0 else ""
        told.append(f"Steps from {low} to {high} are usable{good}.")
    if data.used is not None:
        where = ""
        if data.usable is not None:
            is_inside = data.usable[0] <= data.used <= data.usable[1]
            where = f", which is {'inside' if is_inside else 'outside'}"
        told.append(f"The check used {significant(data.used, 2)}{where}.")
    return " ".join(told)


def passage_figure(data: Passage, place: Html) -> Html:
    """The size of the gradient at every execution of a line, on a scale of powers of ten."""
    sizes = np.array(data.sizes, dtype=float)
    turns = np.arange(1, sizes.size + 1, dtype=float)
    x = Scale(1.0, float(max(sizes.size, 2)), LEFT, WIDTH - RIGHT)
    shown = np.where(np.isfinite(sizes) & (sizes > 0), sizes, np.nan)
    y = logarithmic(shown.tolist(), HEIGHT - BOTTOM, TOP + 6)
    first, last = (significant(float(sizes[k]), 2) for k in (0, -1)) if sizes.size else ("none", "none")
    gaps = int(np.count_nonzero(np.isnan(shown)))
    remark = f" {count(gaps, 'execution')} with zero or no finite size." if gaps else ""
    said = f"From {first} at the first of {count(sizes.size, 'execution')} to {last} at the last.{remark}"
    drawn = picture(
        "size of the gradient by execution",
        said,
        frame(x, y, "execution"),
        curve(x, y, turns, shown, "computed"),
        dots(x, y, turns, shown, "computed"),
    )
    caption = join([tag("span", "Size of the gradient at ", place, f" ({data.op}). ", said)])
    return _figure("By time step", caption, drawn)


def _along(direction: str) -> str:
    return direction if direction.startswith("along") else f"along {direction}"


def _limits(values: Array) -> str:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return "no finite value"
    return f"{significant(float(finite.min()), 4)} to {significant(float(finite.max()), 4)}"


def _worst_gap(proven: Array, computed: Array) -> str:
    gap = np.abs(proven - computed)
    worst = float(np.max(gap[np.isfinite(gap)], initial=0.0))
    return significant(worst, 2) if math.isfinite(worst) else "unknown"


def _figure(title: str, caption: Html, *drawings: Html) -> Html:
    return tag("figure", tag("h5", title), *drawings, tag("figcaption", caption))
