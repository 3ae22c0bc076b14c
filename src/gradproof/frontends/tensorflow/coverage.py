"""Which of TensorFlow's differentiable ops have an exact meaning here, computed from its own registry."""

from __future__ import annotations

import re

import tensorflow  # noqa: F401  # fills the registry of gradients
from tensorflow.python.framework import ops

from gradproof.frontends.tensorflow.dialect import ROLES
from gradproof.frontends.tensorflow.lower import TABLE
from gradproof.frontends.tensorflow.traced.interpret import STRUCTURAL

_BY_ROLE = ("read", "gather", "pass-on")  # what such an op means follows from what it does
# Families that never run in an eager or traced program of TensorFlow 2 on a CPU, each with its reason.
_OUT_OF_SCOPE = (
    (r"Enter|Exit|LoopCond|Merge|NextIteration|Switch", "loops and branches of TensorFlow 1 graphs"),
    (r"Ref[A-Z].*|DebugGradientRefIdentity", "reference variables of TensorFlow 1"),
    (r"TensorArray.*", "arrays of TensorFlow 1 graphs; TensorFlow 2 keeps lists of tensors instead"),
    (
        r"BatchNormWithGlobalNormalization|AccumulateNV2|TopK|QuantizeAndDequantize",
        "withdrawn: TensorFlow 2 has no kernel for them",
    ),
    (r"Nccl.*|Collective.*|CrossReplicaSum|AllToAll", "communication between devices"),
    (r"CopyToMesh.*|Relayout.*", "tensors that are spread over devices"),
    (r"TPU.*", "only on TPUs"),
    (r"Xla.*|_EagerConst", "put in by TensorFlow itself, never by a program"),
    (r"CudnnRNN.*|CTCLossV2|SparseMatrixAdd|SparseMatrixSoftmax", "only on GPUs"),
    (r"ApproxTopK", "an approximation by intention: there is no exact meaning to compare with"),
)


def coverage() -> tuple[list[str], list[str], dict[str, str], list[str]]:
    """Covered ops, opaque ones, those out of scope with the reason, and covered ones without a gradient."""
    registry = ops._gradient_registry
    differentiable = [name for name in registry.list() if registry.lookup(name) is not None]
    differentiable = sorted(name for name in differentiable if not _is_custom(name))
    known = {*TABLE, *(op for op, role in ROLES.items() if role in _BY_ROLE), *STRUCTURAL}
    out = {name: reason for name in differentiable if (reason := _out_of_scope(name)) is not None}
    covered = [name for name in differentiable if name in known and name not in out]
    opaque = [name for name in differentiable if name not in known and name not in out]
    others = sorted(name for name in TABLE if name not in differentiable)
    return covered, opaque, out, others


def _is_custom(name: str) -> bool:
    """Gradients that a program of this process has registered for itself."""
    return name.startswith(("CustomGradient-", "PyFunc-", "PyFuncGradient", "IdentityN-"))


def _out_of_scope(name: str) -> str | None:
    return next((reason for pattern, reason in _OUT_OF_SCOPE if re.fullmatch(pattern, name)), None)
