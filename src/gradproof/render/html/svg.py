"""Axes and curves as SVG, small enough to be read: scales, ticks, lines, dots."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gradproof.ir.types import Array
from gradproof.render.html.markup import Html, join, tag

WIDTH, HEIGHT = 420, 190  # in the units of the drawing; a screen of 360 points shows them almost in full size
LEFT, RIGHT, TOP, BOTTOM = 62, 10, 10, 30  # room for the numbers beside and below the axes

# Beyond this, and below its inverse, a scale would overflow; such values are drawn at the edge.
HUGE = 1e290


@dataclass(frozen=True)
class Scale:
    """Numbers from `low` to `high` on the stretch from `start` to `end`; `log` puts powers of ten at equal steps.

    A number beyond stands at the edge.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(at)
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        return _log_ticks(self.low, self.high) if self.log else _ticks(self.low, self.high)


def linear(values: Iterable[float], start: float, end: float) -> Scale:
    """A scale that holds all the values with a little room; equal values get some around them."""
    low, high = _range(value for value in values if abs(value) <= HUGE)
    # Relative to its size, or no tick could be told from the next.
    is_flat = high - low <= 1e-12 * max(abs(low), abs(high)) or high - low < 1 / HUGE
    room = max(abs(low), 1.0) * 0.1 if is_flat else 0.06 * (high - low)
    return Scale(low - room, high + room, start, end)


def logarithmic(values: Iterable[float], start: float, end: float) -> Scale:
    """A scale of whole powers of ten around the positive values."""
    low, high = _range(value for value in values if 1 / HUGE <= value <= HUGE)
    first, last = math.floor(math.log10(low or 1.0)), math.ceil(math.log10(high or 1.0))
    return Scale(10.0**first, 10.0 ** max(last, first + 1), start, end, log=True)


def frame(x: Scale, y: Scale, x_label: str, y_text: Callable[[float], str] | None = None) -> Html:
    """Both axes: faint lines across at the ticks of y, numbers beside and below, the words for x at its end."""
    return join([*_y_axis(x, y, y_text or _tick_text(y)), *_x_axis(x, y, x_label)])


def _y_axis(x: Scale, y: Scale, label: Callable[[float], str]) -> Iterator[Html]:
    for value in y.ticks():
        at = f"{y(value):.1f}"
        yield tag("line", x1=x.start, x2=x.end, y1=at, y2=at, class_="grid")
        yield tag("text", label(value), x=x.start - 6, y=at, class_="tick", text_anchor="end", dy="0.32em")


def _x_axis(x: Scale, y: Scale, words: str) -> Iterator[Html]:
    yield tag("line", x1=x.start, x2=x.end, y1=y.start, y2=y.start, class_="axis")
    label = _tick_text(x)
    for value in x.ticks():
        at = f"{x(value):.1f}"
        yield tag("line", x1=at, x2=at, y1=y.start, y2=y.start + 4, class_="axis")
        yield tag("text", label(value), x=at, y=y.start + 16, class_="tick", text_anchor="middle")
    yield tag("text", words, x=x.end, y=y.start + 28, class_="tick words", text_anchor="end")


def curve(x: Scale, y: Scale, xs: Array, ys: Array, class_: str) -> Html:
    """A line through the points; where there is no value, or it lies far outside, the line is interrupted."""
    steps, is_down = [], False
    for at, value in zip(xs.tolist(), ys.tolist()):
        if not (_holds(x, at) and _holds(y, value)):
            is_down = False
            continue
        steps.append(f"{'L' if is_down else 'M'}{x(at):.1f} {y(value):.1f}")
        is_down = True
    return tag("path", d="".join(steps), class_=f"curve {class_}")


def dots(x: Scale, y: Scale, xs: Array, ys: Array, class_: str) -> Html:
    """A dot per value, all in one path: a hundred elements cost more than one."""
    steps = [
        f"M{x(at):.1f} {y(value):.1f}h0"
        for at, value in zip(xs.tolist(), ys.tolist())
        if _holds(x, at) and _holds(y, value)
    ]
    return tag("path", d="".join(steps), class_=f"dots {class_}")


def outside(x: Scale, y: Scale, xs: Array, ys: Array, class_: str) -> Html:
    """A small triangle at the edge for each value beyond it, infinities included."""
    steps = []
    for at, value in zip(xs.tolist(), ys.tolist()):
        if not _holds(x, at) or math.isnan(value) or y.low <= value <= y.high:
            continue
        edge, turn = (y.end, 5) if value > y.high else (y.start, -5)
        steps.append(f"M{x(at) - 3:.1f} {edge + turn}l3 {-turn}l3 {turn}z")
    return tag("path", d="".join(steps), class_=f"outside {class_}")


def picture(title: str, description: str, *parts: Html, height: int = HEIGHT) -> Html:
    """The drawing with its words for those who do not see it."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *parts,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_label=f"{title}: {description}",
    )


def _holds(scale: Scale, value: float) -> bool:
    return math.isfinite(value) and scale.low <= value <= scale.high


def _range(values: Iterable[float]) -> tuple[float, float]:
    finite = [value for value in values if math.isfinite(value)]
    return (min(finite), max(finite)) if finite else (0.0, 0.0)


def _ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """About so many round numbers between the two."""
    rough = (high - low) / wanted
    if not rough > 0 or not math.isfinite(rough):
        return []
    power = 10.0 ** math.floor(math.log10(rough))
    # A little finer than asked rather than much coarser.
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.55)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, first + 3 * wanted) if k * step <= high + 1e-9 * step]


def _log_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    first, last = round(math.log10(low)), round(math.log10(high))
    step = max(1, math.ceil((last - first) / wanted))
    return [10.0**k for k in range(first, last + 1, step)]


def _tick_text(scale: Scale) -> Callable[[float], str]:
    """Numbers of a scale with as many digits as tell its ticks apart."""
    if scale.log:
        return lambda value: f"1e{round(math.log10(value))}"
    ticks: Sequence[float] = scale.ticks()
    largest = max((abs(tick) for tick in ticks), default=1.0) or 1.0
    step = ticks[1] - ticks[0] if len(ticks) > 1 else largest
    top, unit = math.floor(math.log10(largest) + 1e-9), math.floor(math.log10(step) + 1e-9)
    if -4 <= top <= 5:
        return lambda value: f"{value + 0.0:.{max(-unit, 0)}f}"

    def exponential(value: float) -> str:
        if abs(value) < step * 1e-6:
            return "0"
        power = math.floor(math.log10(abs(value)) + 1e-9)
        return f"{value / 10.0**power:.{max(power - unit, 0)}f}e{power}"

    return exponential
