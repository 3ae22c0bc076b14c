"""Which of PyTorch's differentiable ops have an exact meaning here, computed from its own registry."""

from __future__ import annotations

import re
from functools import cache

import torch

from gradproof.frontends.torch.lower import LOWERINGS, TABLE

# Families that no program on a CPU runs, each with its reason.
_OUT_OF_SCOPE = (
    (r"_?(cudnn|miopen|cuda|mps|xpu|hip)_.*|.*_(cudnn|cuda|mps|overrideable)", "only on other devices"),
    (r"_?mkldnn_(?!rnn).*|.*_mkldnn", "another layout of the same ops, which a program asks for by name"),
    (
        r"_?(fused|foreach|amp|fake_quantize|fake_quant|quantize|q_|dequantize|int_).*",
        "not differentiated by programs",
    ),
    (
        r".*_(copy|scatter)(_.*)?|.*_backward(_.*)?",
        "a form of another op that compilers and backward passes use",
    ),
    (
        r"_?nested_.*|.*(sparse|csr|csc|bsr|bsc|coalesce).*|to_padded.*|_jagged.*|values|indices",
        "layouts of their own",
    ),
    (r"_test_.*|_autograd.*|_cast_.*|rnn_.*|_thnn_.*|.*_for_mps|_slow_.*|.*nnpack.*", "internal"),
)


def coverage() -> tuple[list[str], list[str], dict[str, str], list[str]]:
    """Covered ops, opaque ones, those out of scope with the reason, and covered ones without a rule of their own."""
    names = sorted({packet for packet in _packets() if _is_differentiable(packet)})
    out = {name: reason for name in names if (reason := _out_of_scope(name)) is not None}
    covered = [name for name in names if name not in out and _has_meaning(name)]
    opaque = [name for name in names if name not in out and name not in covered]
    others = sorted(name for name in TABLE if "." not in name and name not in names)
    return covered, opaque, out, others


def _packets() -> set[str]:
    full = (name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    return {name.removeprefix("aten::").partition(".")[0] for name in full}


def _overloads(packet: str) -> list[str]:
    try:
        return [f"aten.{packet}.{one}" for one in getattr(torch.ops.aten, packet).overloads()]
    except (AttributeError, RuntimeError):
        return []


def _is_differentiable(packet: str) -> bool:
    """Whether PyTorch has a rule of its own for it; ops in place go with those that are not."""
    if packet.endswith("_"):
        return False
    return packet.replace("_", "").lower() in _rules()


@cache
def _rules() -> frozenset[str]:
    """The nodes of its graph, which are named after the ops they differentiate."""
    nodes = (name for name in dir(torch._C._functions) if name.endswith("Backward0"))
    return frozenset(name.removesuffix("Backward0").lower() for name in nodes)


def _has_meaning(packet: str) -> bool:
    return any(LOWERINGS.get(op) is not None for op in _overloads(packet))


def _out_of_scope(name: str) -> str | None:
    return next((reason for pattern, reason in _OUT_OF_SCOPE if re.fullmatch(pattern, name)), None)
