"""A whole LSTM in one op, and its gradient as TensorFlow computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import float_attr, ints, lower

BARE = 0.99  # of the bound: a cell that comes no nearer is not clipped
# The order in which the columns of the weights belong to the gates, whose letters are those of the op's outputs.
_V1, _V2 = ("i", "ci", "f", "o"), ("i", "f", "ci", "o")


@dataclass(frozen=True)
class Peepholes:
    """Weights by which the gates look at the cell; None where they do not."""

    i: Any
    f: Any
    o: Any


def _slice(m: Any, x: Any, t: int) -> Any:
    part = m.strided_slice(x, begin=(t, *(0,) * (x.ndim - 1)), end=(t + 1, *x.shape[1:]))
    return m.reshape(part, shape=x.shape[1:])


def _columns(m: Any, x: Any, k: int) -> Any:
    n, width = x.shape[0], x.shape[1] // 4
    return m.strided_slice(x, begin=(0, k * width), end=(n, (k + 1) * width))


def _peepholes(event: Any, i: Any, f: Any, o: Any) -> Peepholes | None:
    return Peepholes(i, f, o) if event.attrs["use_peephole"] else None


def _lstm(order: tuple[str, ...]) -> Any:
    def lstm(
        m: Any, event: Any, n: Any, x: Any, c: Any, h: Any, w: Any, wi: Any, wf: Any, wo: Any, b: Any
    ) -> Any:
        if ints(n)[0] < x.shape[0]:
            raise NotImplementedError("steps that are not computed")
        clip = float(event.attrs["cell_clip"])
        if clip > 0 and np.abs(event.outputs[1].array).max(initial=0.0) > BARE * clip:
            raise NotImplementedError("a cell that is clipped")
        peep = _peepholes(event, wi, wf, wo)
        bias = float_attr(event, "forget_bias", x) if "forget_bias" in event.attrs else None
        steps = []
        for t in range(x.shape[0]):
            gates = m.matmul(m.concat(_slice(m, x, t), h, axis=1), w) + b
            raw = {letter: _columns(m, gates, k) for k, letter in enumerate(order)}
            if bias is not None:
                raw["f"] = raw["f"] + m.literal(bias)
            step = _step(m, raw, c, peep)
            steps.append(step)
            c, h = step[1], step[-1]
        return tuple(m.stack(*parts, axis=0) for parts in zip(*steps))

    return lstm


def _step(m: Any, raw: dict[str, Any], before: Any, peep: Peepholes | None) -> tuple[Any, ...]:
    """i, cs, f, o, ci, co, h: as the op puts them out."""
    if peep is not None:
        raw = {**raw, "i": raw["i"] + before * peep.i, "f": raw["f"] + before * peep.f}
    i, f, ci = m.sigmoid(raw["i"]), m.sigmoid(raw["f"]), m.tanh(raw["ci"])
    c = ci * i + before * f
    o = m.sigmoid(raw["o"] if peep is None else raw["o"] + c * peep.o)
    co = m.tanh(c)
    return i, c, f, o, ci, co, o * co


lower("BlockLSTM")(_lstm(_V1))
lower("BlockLSTMV2")(_lstm(_V2))


@lower("BlockLSTMGrad")
def _gradient(m: Any, event: Any, n: Any, x: Any, c: Any, h: Any, w: Any, wi: Any, wf: Any, wo: Any, b: Any,
              *rest: Any) -> Any:  # fmt: skip
    """For x, c, h, w, the peepholes and b, with the columns of the first version whichever the op is."""
    if ints(n)[0] < x.shape[0]:
        raise NotImplementedError("steps that are not computed")
    i, cs, f, o, ci, co, hs, c_grads, h_grads = rest
    peep = _peepholes(event, wi, wf, wo)
    zero = m.literal(np.zeros(()))
    dc, dh = m.broadcast(zero, shape=c.shape), m.broadcast(zero, shape=h.shape)
    dx, dw, db, dpeep = [], [], [], []
    for t in reversed(range(x.shape[0])):
        at = [_slice(m, part, t) for part in (i, f, o, ci, co)]
        c_before, h_before = (c, h) if t == 0 else (_slice(m, cs, t - 1), _slice(m, hs, t - 1))
        dh, dc = dh + _slice(m, h_grads, t), dc + _slice(m, c_grads, t)
        gates, dc = _step_back(m, at, c_before, dh, dc, peep)
        di, _, df, do = gates
        wide = m.concat(*gates, axis=1)
        both = m.matmul(wide, m.transpose(w, order=(1, 0)))
        n_x = x.shape[2]
        dx.append(m.strided_slice(both, begin=(0, 0), end=(both.shape[0], n_x)))
        dh = m.strided_slice(both, begin=(0, n_x), end=both.shape)
        given = m.concat(_slice(m, x, t), h_before, axis=1)
        dw.append(m.matmul(m.transpose(given, order=(1, 0)), wide))
        db.append(m.sum(wide, axes=(0,)))
        looks = (di * c_before, df * c_before, do * _slice(m, cs, t))
        dpeep.append([m.sum(one, axes=(0,)) for one in looks])
    sums = [_sum(m, parts) if peep is not None else m.literal(np.zeros(wi.shape)) for parts in zip(*dpeep)]
    return (m.stack(*reversed(dx), axis=0), dc, dh, _sum(m, dw), *sums, _sum(m, db))


def _step_back(
    m: Any, at: list[Any], before: Any, dh: Any, dc: Any, peep: Peepholes | None
) -> tuple[Any, Any]:
    """What reaches the gates (in the order of the first version) and the cell before."""
    i, f, o, ci, co = at
    do = o * (1 - o) * dh * co
    dc = (1 - co * co) * dh * o + dc
    dc = dc if peep is None else dc + do * peep.o
    di, dci, df = i * (1 - i) * dc * ci, (1 - ci * ci) * dc * i, f * (1 - f) * dc * before
    back = dc * f if peep is None else dc * f + di * peep.i + df * peep.f
    return (di, dci, df, do), back


def _sum(m: Any, parts: Any) -> Any:
    total, *others = parts
    for part in others:
        total = total + part
    return total
