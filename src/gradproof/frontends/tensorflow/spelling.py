"""What users call the ops of TensorFlow, which have names of their own underneath."""

from __future__ import annotations

import re
from functools import lru_cache

import tensorflow as tf

_VERSION = re.compile(r"V\d+$")
# Where users look for a function, the shortest way first; below a name it is the op's own but for underscores.
_ROOMS = ("", "math", "nn", "linalg", "image", "signal", "quantization", "sparse", "strings", "random")
_OTHERWISE = {
    "AddV2": "+", "Sub": "-", "Mul": "*", "RealDiv": "/", "Neg": "-", "Pow": "**", "MatrixDeterminant": "tf.linalg.det",
    "LogMatrixDeterminant": "tf.linalg.slogdet", "MatrixInverse": "tf.linalg.inv", "MatrixSolve": "tf.linalg.solve",
    "SelfAdjointEigV2": "tf.linalg.eigh", "Sum": "tf.reduce_sum", "Mean": "tf.reduce_mean", "Prod": "tf.reduce_prod",
    "Max": "tf.reduce_max", "Min": "tf.reduce_min", "SelectV2": "tf.where", "Select": "tf.where",
    "BatchMatMulV2": "tf.matmul", "BatchMatMulV3": "tf.matmul", "MatMul": "tf.matmul", "GatherV2": "tf.gather",
    "ConcatV2": "tf.concat", "Greater": ">", "GreaterEqual": ">=", "Less": "<", "LessEqual": "<=", "Equal": "==",
    "NotEqual": "!=", "StridedSlice": "indexing",
}  # fmt: skip


@lru_cache(maxsize=4096)
def spelled(op: str) -> str:
    """`tf.argmax` for `ArgMax`; what has no such name keeps its own."""
    if op in _OTHERWISE:
        return _OTHERWISE[op]
    return _public().get(_VERSION.sub("", op).lower(), op)


@lru_cache(maxsize=1)
def _public() -> dict[str, str]:
    found: dict[str, str] = {}
    for room in _ROOMS:
        owner = tf if not room else getattr(tf, room)
        prefix = f"tf.{room}." if room else "tf."
        for name, value in sorted(vars(owner).items()):  # not by `getattr`, which loads what is loaded lazily
            if name.islower() and not name.startswith("_") and callable(value):
                found.setdefault(name.replace("_", ""), prefix + name)
    return found
