"""The error function, the normal distribution, and other integrals of elementary functions."""

from __future__ import annotations

from gradproof.ops._op import Sample, op

_ANY = ((0.5,), ((-2.0, 1.25, 0.0078125),))
_POSITIVE = ((0.5,), ((7.0, 1.25, 0.0078125),))
_PROBABILITY = ((0.5,), ((0.25, 0.984375, 0.0078125),))

op("erf", slopes=(lambda m, y, x: m.times(m.exp(-(x * x)), constant="2/sqrt(pi)"),), samples=_ANY)
op("erfc", slopes=(lambda m, y, x: -m.times(m.exp(-(x * x)), constant="2/sqrt(pi)"),), samples=_ANY)
op(
    "erfcx",  # exp(x^2) erfc(x)
    slopes=(lambda m, y, x: m.times(m.times(x * y, constant="sqrt(pi)") - 1, constant="2/sqrt(pi)"),),
    samples=(*_ANY, (30.0,)),
)
op(
    "erfinv",
    slopes=(lambda m, y, x: m.times(m.exp(y * y), constant="sqrt(pi)/2"),),
    samples=((0.5,), ((-0.875, 0.984375, 0.0078125),)),
    edges=(-1.0, 1.0),
)
op(
    "erfcinv",
    slopes=(lambda m, y, x: -m.times(m.exp(y * y), constant="sqrt(pi)/2"),),
    samples=((0.5,), ((1.75, 0.0078125),)),
    edges=(0.0, 2.0),
)
op("ndtr", slopes=(lambda m, y, x: m.times(m.exp(-(x * x) * 0.5), constant="1/sqrt(2pi)"),), samples=_ANY)
op(
    "log_ndtr",
    slopes=(lambda m, y, x: m.times(m.exp(-(x * x) * 0.5 - y), constant="1/sqrt(2pi)"),),
    samples=(*_ANY, ((-30.0, 4.0),)),
)
op(
    "ndtri",
    slopes=(lambda m, y, x: m.times(m.exp(y * y * 0.5), constant="sqrt(2pi)"),),
    samples=_PROBABILITY,
    edges=(0.0, 1.0),
)
op("dawson", slopes=(lambda m, y, x: 1 - 2 * x * y,), samples=(*_ANY, (30.0,)))
op(
    "expint",
    slopes=(lambda m, y, x: m.exp(x) / x,),
    samples=((0.5,), ((-2.0, 7.0, 0.0078125),)),
    edges=(0.0,),
)
op("exp1", slopes=(lambda m, y, x: -m.exp(-x) / x,), samples=_POSITIVE, edges=(0.0,))
op("fresnel_sin", slopes=(lambda m, y, x: m.sin(m.times(x * x, constant="pi") * 0.5),), samples=_ANY)
op("fresnel_cos", slopes=(lambda m, y, x: m.cos(m.times(x * x, constant="pi") * 0.5),), samples=_ANY)
op("sin_integral", slopes=(lambda m, y, x: m.sinc(x),), samples=(*_ANY, (0.0,)))
op("cos_integral", slopes=(lambda m, y, x: m.cos(x) / x,), samples=_POSITIVE, edges=(0.0,))

# Li2(1 - x). Its slope log(x) / (1 - x) is written so that it has its true value, -1, at x = 1.
op(
    "spence",
    slopes=(lambda m, y, x: -m.hyp2f1(1 - x, a=1, b=1, c=2),),
    samples=((0.5,), ((7.0, 1.0, 0.0078125),)),
    edges=(0.0,),
)

# Hypergeometric functions of one variable, which slopes of others are made of. Parameters are exact numbers.
op(
    "hyp0f1",
    slopes=(lambda m, y, x, b: m.hyp0f1(x, b=b + 1) / b,),
    samples=(Sample((0.5,), {"b": 1.5}), Sample(((-2.0, 0.0, -30.0),), {"b": 2.5})),
)
op(
    "hyp1f1",
    slopes=(lambda m, y, x, a, b: m.hyp1f1(x, a=a + 1, b=b + 1) * a / b,),
    samples=(Sample((0.5,), {"a": 1.5, "b": 2.5}), Sample(((-6.0, 0.0, 3.25),), {"a": -0.5, "b": 1.75})),
)
op(
    "hyp2f1",
    slopes=(lambda m, y, x, a, b, c: m.hyp2f1(x, a=a + 1, b=b + 1, c=c + 1) * (a * b) / c,),
    samples=(
        Sample((0.5,), {"a": 1, "b": 1, "c": 2}),
        Sample(((-6.0, 0.0, 0.25),), {"a": 1, "b": 2, "c": 3.5}),
    ),
    edges=(1.0,),
)
