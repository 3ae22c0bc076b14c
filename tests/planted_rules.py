"""Wrong rules: what people get wrong in derivatives, each made from the right rule of an op."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.ops import TABLE, Op

Rule = Callable[..., Any]
Spoil = Callable[[Op], Op]
STEP = 2.0**-10  # of the finite difference that someone put into a rule


def true_rule(op: Op) -> Rule:
    """The rule of an op as a pullback, also where it is given by slopes."""
    if op.pullback is not None:
        return op.pullback

    def rule(m: Any, i: int, gy: Any, y: Any, *xs: Any, **params: Any) -> Any:
        assert op.slopes is not None
        slope = op.slopes[i](m, y, *xs, **params)  # type: ignore[misc]
        return m.sum_to(m.mul(gy, slope), shape=tuple(np.shape(xs[i])))

    return rule


def _changed(change: Callable[..., Any]) -> Spoil:
    """An op whose rule is `change(m, rule, i, gy, y, xs, params)`."""

    def spoil(op: Op) -> Op:
        rule = true_rule(op)

        def pullback(m: Any, i: int, gy: Any, y: Any, *xs: Any, **params: Any) -> Any:
            return change(m, lambda g: rule(m, i, g, y, *xs, **params), i, gy, y, xs, params)

        return replace(op, slopes=None, pullback=pullback)

    return spoil


def scaled(factor: float) -> Spoil:
    return _changed(lambda m, rule, i, gy, y, xs, params: m.mul(rule(gy), factor))


def _one_entry(m: Any, rule: Rule, i: int, gy: Any, y: Any, xs: Any, params: Any) -> Any:
    gx = rule(gy)
    factors = np.ones(gx.shape)
    factors.reshape(-1)[-1] = 1.5
    return m.mul(gx, m.literal(factors))


def _missing_term(m: Any, rule: Rule, i: int, gy: Any, y: Any, xs: Any, params: Any) -> Any:
    return rule(gy) if i == 0 else m.mul(rule(gy), 0.0)


def _transposed(m: Any, rule: Rule, i: int, gy: Any, y: Any, xs: Any, params: Any) -> Any:
    gx = rule(gy)
    return m.transpose(gx, order=(1, 0)) if gx.ndim == 2 and gx.shape[0] == gx.shape[1] else gx


def _wrong_branch(m: Any, rule: Rule, i: int, gy: Any, y: Any, xs: Any, params: Any) -> Any:
    assert _SELECT is not None
    return _SELECT(m, i, gy, y, m.logical_not(xs[0]), *xs[1:])


_SELECT = TABLE["select"].pullback  # as it is before anything is planted


def unreduced(op: Op) -> Op:
    """Takes the first of the copies that broadcasting made, instead of their sum."""

    def pullback(m: Any, i: int, gy: Any, y: Any, *xs: Any, **params: Any) -> Any:
        slope = op.slopes[i](m, y, *xs, **params)  # type: ignore[index,misc]
        g, shape = m.mul(gy, slope), tuple(np.shape(xs[i]))
        lead = g.ndim - len(shape)
        end = (*(1,) * lead, *shape)
        return m.reshape(m.strided_slice(g, begin=(0,) * g.ndim, end=end), shape=shape)

    return replace(op, slopes=None, pullback=pullback)


def _ignores_upstream(m: Any, rule: Rule, i: int, gy: Any, y: Any, xs: Any, params: Any) -> Any:
    return rule(m.constant(np.ones(gy.shape, gy.value.dtype)))


def _cast(m: Any, rule: Rule, i: int, gy: Any, y: Any, xs: Any, params: Any) -> Any:
    return m.cast(m.cast(rule(gy), dtype="float32"), dtype="float64")


def difference_quotient(op: Op) -> Op:
    def pullback(m: Any, i: int, gy: Any, y: Any, x: Any, **params: Any) -> Any:
        ahead = getattr(m, op.name)(m.add(x, STEP), **params)
        return m.mul(gy, m.div(m.sub(ahead, y), STEP))

    return replace(op, slopes=None, pullback=pullback)


def stopped(op: Op) -> Op:
    """Right at first order; its own derivative is cut off."""
    rule = true_rule(op)

    def pullback(m: Any, i: int, gy: Any, y: Any, *xs: Any, **params: Any) -> Any:
        held = [m.stop_gradient(x) if isinstance(x, Traced) and x.value.dtype.kind == "f" else x for x in xs]
        return rule(m, i, gy, m.stop_gradient(y), *held, **params)

    return replace(op, slopes=None, pullback=pullback)


one_entry = _changed(_one_entry)
missing_term = _changed(_missing_term)
transposed = _changed(_transposed)
wrong_branch = _changed(_wrong_branch)
ignores_upstream = _changed(_ignores_upstream)
cast = _changed(_cast)
