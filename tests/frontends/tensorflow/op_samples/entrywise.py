"""Functions applied entry by entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.frontends.tensorflow.op_samples._sample import Numbers, Sample, sample

raw = tf.raw_ops
d = Numbers(1)

ANY = [
    "Exp",
    "Expm1",
    "Sin",
    "Cos",
    "Tan",
    "Atan",
    "Sinh",
    "Cosh",
    "Tanh",
    "Asinh",
    "Sigmoid",
    "Abs",
    "Neg",
    "Square",
    "Erf",
    "Erfc",
    "Sign",
    "Dawsn",
    "BesselI0",
    "BesselI1",
    "BesselI0e",
    "BesselI1e",
    "BesselJ0",
    "BesselJ1",
    "FresnelSin",
    "FresnelCos",
]
FEATURES = ["Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign"]
POSITIVE = [
    "Log",
    "Log1p",
    "Sqrt",
    "Rsqrt",
    "Reciprocal",
    "Inv",
    "Lgamma",
    "Digamma",
    "BesselK0",
    "BesselK1",
    "BesselK0e",
    "BesselK1e",
    "BesselY0",
    "BesselY1",
    "Expint",
    "Spence",
]
SHARES = ["Asin", "Acos", "Atanh", "Erfinv", "Ndtri"]
STEPS = ["Floor", "Ceil", "Round", "Rint"]
PAIRS = [
    "Add",
    "AddV2",
    "Sub",
    "Mul",
    "Div",
    "RealDiv",
    "DivNoNan",
    "MulNoNan",
    "SquaredDifference",
    "Maximum",
    "Minimum",
    "Pow",
    "Xdivy",
    "Xlogy",
    "Xlog1py",
    "FloorMod",
]


def _of(name: str, argument: str = "x") -> Any:
    return lambda x: getattr(raw, name)(**{argument: x})


def _pair(name: str) -> Any:
    return lambda x, y: getattr(raw, name)(x=x, y=y)


def _grad(name: str) -> Any:
    return lambda y, dy: getattr(raw, name)(y=y, dy=dy)


def _activation_grad(name: str, value: str) -> Any:
    return lambda g, x: getattr(raw, name)(**{"gradients": g, value: x})


BY_VALUE = ["InvGrad", "ReciprocalGrad", "SqrtGrad", "RsqrtGrad", "TanhGrad", "SigmoidGrad"]
BY_FEATURES = ["ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad"]
BY_OUTPUTS = ["EluGrad", "SeluGrad"]

SAMPLES: dict[str, Sample] = {
    **{name: sample(_of(name), d.any(2, 3)) for name in ANY},
    **{name: sample(_of(name, "features"), d.any(2, 3)) for name in FEATURES},
    **{name: sample(_of(name), d.positive(2, 3)) for name in POSITIVE},
    **{name: sample(_of(name), d.share(2, 3)) for name in SHARES},
    **{name: sample(_of(name), d.any(2, 3), verdicts="missing", why="a staircase") for name in STEPS},
    **{name: sample(_pair(name), d.positive(2, 3), d.positive(3)) for name in PAIRS},
    **{name: sample(_grad(name), d.positive(3), d.any(3)) for name in BY_VALUE},
    **{name: sample(_activation_grad(name, "features"), d.any(4), d.any(4)) for name in BY_FEATURES},
    **{name: sample(_activation_grad(name, "outputs"), d.any(4), -d.share(4)) for name in BY_OUTPUTS},
    "Acosh": sample(tf.acosh, 1 + d.positive(3)),
    "Atan2": sample(tf.atan2, d.any(2, 3), d.any(3)),
    "NextAfter": sample(tf.math.nextafter, d.positive(3), d.positive(3)),
    "FloorDiv": sample(_pair("FloorDiv"), d.positive(3), d.positive(3), verdicts="missing", why="a staircase"),
    "TruncateDiv": sample(_pair("TruncateDiv"), d.any(3), d.any(3), verdicts="missing", why="a staircase"),
    "Cross": sample(tf.linalg.cross, d.any(2, 3), d.any(2, 3)),
    "Igamma": sample(tf.math.igamma, d.positive(3), d.positive(3)),
    "Igammac": sample(tf.math.igammac, d.positive(3), d.positive(3)),
    "Zeta": sample(lambda q: tf.math.zeta(tf.constant([2.5, 3.0, 2.0], q.dtype), q), d.positive(3)),
    "Polygamma": sample(lambda x: tf.math.polygamma(tf.constant([1.0, 3.0, 2.0], x.dtype), x), d.positive(3)),
    "Betainc": sample(
        lambda x: tf.math.betainc(tf.constant([1.5, 3.0], x.dtype), tf.constant([0.5, 2.0], x.dtype), x), d.share(2)
    ),
    "LeakyRelu": sample(tf.nn.leaky_relu, d.any(5)),
    "ClipByValue": sample(
        lambda x, low, high: raw.ClipByValue(t=x, clip_value_min=low, clip_value_max=high),
        3 * d.any(6), np.array(-1.0), np.array(1.1),
    ),
    "Select": sample(lambda a, b: raw.Select(condition=[True, False], x=a, y=b), d.any(2, 2), d.any(2, 2)),
    "SelectV2": sample(lambda a, b: tf.where([[True], [False]], a, b), d.any(2), d.any(2, 1)),
    "AddN": sample(lambda a, b, c: tf.add_n([a, b, c]), d.any(2), d.any(2), d.any(2)),
    "IdentityN": sample(lambda a, b: tf.identity_n([a, b]), d.any(2), d.any(2)),
    "Identity": sample(lambda x: tf.sin(tf.identity(x)), d.any(2)),
    "StopGradient": sample(lambda x: x * tf.stop_gradient(tf.sin(x)), d.any(3)),
    "CheckNumerics": sample(lambda x: tf.debugging.check_numerics(x, "bad"), d.any(2)),
    "CheckNumericsV2": sample(lambda x: raw.CheckNumericsV2(tensor=x, message="bad"), d.any(2)),
    "EnsureShape": sample(lambda x: tf.ensure_shape(x, [None]), d.any(2)),
    "DebugIdentityV2": sample(lambda x: raw.DebugIdentityV2(input=x), d.any(2)),
    "Print": sample(lambda x: raw.Print(input=x, data=[], message="", first_n=0), d.any(2)),
    "PlaceholderWithDefault": sample(lambda x: raw.PlaceholderWithDefault(input=x, shape=[2]), d.any(2)),
    "Cast": sample(lambda x: tf.cast(x, tf.float64), d.any(3).astype(np.float32)),
    "Cast to complex": sample(lambda x: tf.cast(x, tf.complex128), d.any(3)),
    "Complex": sample(tf.complex, d.any(3), d.any(3)),
    "Real": sample(tf.math.real, d.complex(3)),
    "Imag": sample(tf.math.imag, d.complex(3)),
    "Conj": sample(tf.math.conj, d.complex(3)),
    "Angle": sample(tf.math.angle, d.complex(3)),
    "ComplexAbs": sample(tf.abs, d.complex(3)),
    "Mul of complex": sample(tf.multiply, d.complex(3), d.complex(3)),
    "Exp of complex": sample(tf.exp, d.complex(3)),
    "RandomGamma": sample(lambda a: tf.random.gamma([2], a, seed=1, dtype=a.dtype), d.positive(3)),
    "StatelessRandomGammaV3": sample(
        lambda a: tf.random.stateless_gamma([2, 3], [1, 2], a, dtype=a.dtype), d.positive(3)
    ),
    "StatelessRandomGammaV2": sample(
        lambda a: raw.StatelessRandomGammaV2(shape=[2, 3], seed=[1, 2], alpha=a), d.positive(3)
    ),
    "StatelessParameterizedTruncatedNormal": sample(
        lambda mean, deviation: raw.StatelessParameterizedTruncatedNormal(
            shape=[4], seed=[1, 2], means=mean, stddevs=deviation,
            minvals=tf.constant(-1.0, mean.dtype), maxvals=tf.constant(1.5, mean.dtype),
        ),
        d.any(), d.positive(), verdicts="wrong", why="moves the bounds along with the mean",
    ),
}  # fmt: skip
