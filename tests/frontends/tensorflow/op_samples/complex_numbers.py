"""Ops of complex numbers whose real twins do not tell how the gradient conjugates."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.frontends.tensorflow.op_samples._sample import Numbers, Sample, sample

raw = tf.raw_ops
d = Numbers(21)

_FORGETS = "TensorFlow's gradient forgets to conjugate the other factors"
_SEGMENTS = np.array([0, 0, 1, 1])


def _gradient_of(name: str) -> Any:
    return lambda y, dy: getattr(raw, name)(y=y, dy=dy)


SAMPLES: dict[str, Sample] = {
    "complex Prod": sample(lambda x: raw.Prod(input=x, axis=[1]), d.complex(2, 3)),
    "complex Cumprod": sample(
        lambda x: raw.Cumprod(x=x, axis=1), d.complex(2, 3), verdicts="wrong", why=_FORGETS
    ),
    "complex Cumprod, exclusive and reversed": sample(
        lambda x: raw.Cumprod(x=x, axis=1, exclusive=True, reverse=True),
        d.complex(2, 3),
        verdicts="wrong",
        why=_FORGETS,
    ),
    "complex SegmentProd": sample(
        lambda x: tf.math.segment_prod(x, _SEGMENTS), d.complex(4, 2), verdicts="wrong", why=_FORGETS
    ),
    "complex UnsortedSegmentProd": sample(
        lambda x: tf.math.unsorted_segment_prod(x, _SEGMENTS, 2),
        d.complex(4, 2),
        verdicts="wrong",
        why=_FORGETS,
    ),
    "complex SquaredDifference": sample(
        lambda x, y: raw.SquaredDifference(x=x, y=y),
        d.complex(3),
        d.complex(3),
        verdicts="wrong",
        why="it is |x - y|^2, and TensorFlow's gradient is right for a real upstream only",
    ),
    "complex SquaredDifference, real upstream": sample(
        lambda x, y: tf.math.real(raw.SquaredDifference(x=x, y=y)), d.complex(2, 3), d.complex(3)
    ),
    "facts of a complex tensor": sample(
        lambda x: (
            x * tf.cast(raw.Size(input=x) + raw.Rank(input=x) + raw.ShapeN(input=[x, x])[0][0], x.dtype)
        ),
        d.complex(3, 2),
    ),
    "complex OnesLike": sample(lambda x: x * raw.OnesLike(x=x), d.complex(3)),
    **{
        f"complex {name}": sample(_gradient_of(name), d.complex(3), d.complex(3))
        for name in ("ReciprocalGrad", "InvGrad", "RsqrtGrad", "SqrtGrad", "TanhGrad", "SigmoidGrad")
    },
}
