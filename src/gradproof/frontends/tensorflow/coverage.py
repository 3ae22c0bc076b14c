"""Which of TensorFlow's differentiable ops have an exact meaning here, computed from its own registry."""

from __future__ import annotations

import re

import tensorflow  # noqa: F401  # fills the registry of gradients
from tensorflow.python.framework import ops

from gradproof.frontends.tensorflow.lower import TABLE

# Families that never run in an eager or traced program of TensorFlow 2 on a CPU, each with its reason.
_OUT_OF_SCOPE = (
    (r"Ref(Enter|Exit|Identity|Merge|NextIteration|Switch)|.*Ref$", "reference variables of TensorFlow 1"),
    (r"Nccl.*|Collective.*|.*CrossReplica.*|.*AllReduce.*|AllToAll", "communication between devices"),
    (r"TPU.*|.*TPU.*|XlaSharding|XlaSpmd.*", "only on TPUs"),
    (r"CudnnRNN.*|.*Cudnn.*|.*Cuda.*", "only on GPUs"),
    (r"_?Fused.*Sparse.*Mkl.*|_Mkl.*", "kernels that TensorFlow puts in by itself"),
    (r"Quantize.*Range|Requantize|Quantized.*", "integer arithmetic"),
)


def coverage() -> tuple[list[str], list[str], dict[str, str], list[str]]:
    """Covered ops, opaque ones, those out of scope with the reason, and covered ones without a gradient."""
    registry = ops.gradient_registry
    differentiable = [name for name in registry.list() if registry.lookup(name) is not None]
    differentiable = [name for name in differentiable if not _is_custom(name)]
    covered = [name for name in differentiable if name in TABLE]
    left = [name for name in differentiable if name not in TABLE]
    out = {name: reason for name in left if (reason := _out_of_scope(name)) is not None}
    opaque = [name for name in left if name not in out]
    others = [name for name in TABLE if name not in differentiable]
    return covered, opaque, out, others


def _is_custom(name: str) -> bool:
    """Gradients that a program of this process has registered for itself."""
    return name.startswith(("CustomGradient-", "PyFunc-", "PyFuncGradient", "Eager"))


def _out_of_scope(name: str) -> str | None:
    return next((reason for pattern, reason in _OUT_OF_SCOPE if re.fullmatch(pattern, name)), None)
