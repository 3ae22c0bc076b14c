"""mpmath values of reductions and running reductions."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np


def _along(function: Any, axis: int, *xs: Any, reverse: bool = False) -> Any:
    """A function of whole lines (lists of mpf to lists of mpf) applied along an axis."""
    xs = tuple(np.moveaxis(x, axis, -1) for x in xs)
    xs = tuple(x[..., ::-1] if reverse else x for x in xs)
    y = np.empty(xs[0].shape, dtype=object)
    for place in np.ndindex(*y.shape[:-1]):
        y[place] = function(*(list(x[place]) for x in xs))
    return np.moveaxis(y[..., ::-1] if reverse else y, -1, axis)


def _over(function: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """A function of a list of mpf to one, over axes."""
    rest = tuple(axis for axis in range(x.ndim) if axis not in axes)
    moved = np.transpose(x, (*rest, *axes))
    lines = moved.reshape(*moved.shape[: len(rest)], -1)
    y = np.empty(lines.shape[:-1], dtype=object)
    for place in np.ndindex(*y.shape):
        y[place] = function(list(lines[place]))
    return y


def _spread(function: Any, x: Any, axes: tuple[int, ...]) -> Any:
    return np.expand_dims(_over(function, x, axes), axes)


def _recurrence(a: list[Any], b: list[Any]) -> list[Any]:
    y, results = mpmath.mpf(0), []
    for factor, term in zip(a, b):
        y = factor * y + term
        results.append(y)
    return results


def _running(step: Any, start: Any, exclusive: bool) -> Any:
    def line(entries: list[Any]) -> list[Any]:
        y, results = start, []
        for entry in entries:
            results.append(y if exclusive else step(y, entry))
            y = step(y, entry)
        return results

    return line


def _log_sum_exp(entries: list[Any]) -> Any:
    return mpmath.log(sum(mpmath.exp(entry) for entry in entries))


def _variance(ddof: int) -> Any:
    def variance(entries: list[Any]) -> Any:
        mean = sum(entries) / len(entries)
        return sum((entry - mean) ** 2 for entry in entries) / (len(entries) - ddof)

    return variance


_exp = np.frompyfunc(mpmath.exp, 1, 1)

REFERENCES = {
    "sum": lambda x, axes: _over(sum, x, axes),
    "mean": lambda x, axes: _over(lambda entries: sum(entries) / len(entries), x, axes),
    "prod": lambda x, axes: _over(mpmath.fprod, x, axes),
    "var": lambda x, axes, ddof=0: _over(_variance(ddof), x, axes),
    "logsumexp": lambda x, axes: _over(_log_sum_exp, x, axes),
    "softmax": lambda x, axes: _exp(x - _spread(_log_sum_exp, x, axes)),
    "log_softmax": lambda x, axes: x - _spread(_log_sum_exp, x, axes),
    "recurrence": lambda a, b, axis, reverse=False: _along(_recurrence, axis, a, b, reverse=reverse),
    "cumsum": lambda x, axis, exclusive=False, reverse=False: _along(
        _running(lambda y, entry: y + entry, mpmath.mpf(0), exclusive), axis, x, reverse=reverse
    ),
    "cumprod": lambda x, axis, exclusive=False, reverse=False: _along(
        _running(lambda y, entry: y * entry, mpmath.mpf(1), exclusive), axis, x, reverse=reverse
    ),
    "cumlogsumexp": lambda x, axis, reverse=False: _along(
        lambda entries: [_log_sum_exp(entries[: k + 1]) for k in range(len(entries))],
        axis,
        x,
        reverse=reverse,
    ),
}


def _segment_prod(x: Any, groups: Any, size: int) -> Any:
    y = np.full((size, *x.shape[1:]), mpmath.mpf(1), dtype=object)
    for row, group in zip(x, groups):
        y[group] = y[group] * row
    return y


REFERENCES["segment_prod"] = _segment_prod
