"""Functions whose gradient parts at a known op in another mode of PyTorch, and functions whose does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tests.modes.cases import ModeCase, normal

_S = torch.sum
_F = torch.nn.functional
_KERNEL = torch.tensor(normal(1, 1, 3, 3))


def _softmax(x: Any) -> Any:
    e = torch.exp(x)
    return _S((e / _S(e)) ** 2)


def _layer_norm(x: Any) -> Any:
    away = x - torch.mean(x)
    return away * torch.rsqrt(torch.mean(away * away) + 1e-5)


INDUCTOR = {
    "exp": ModeCase(lambda x: _S(torch.exp(x)), normal(40) * 5, "exp", "forward", "approximation"),
    "softmax by hand": ModeCase(_softmax, normal(9), "exp", "forward", "approximation"),
    "attention": ModeCase(
        lambda q: _S(torch.softmax(q @ q.T * 8, -1) @ q),
        normal(4, 4),
        "softmax",
        "backward",
        "derivative-rule",
    ),
    "a line": ModeCase(
        lambda x: _S(torch.tanh(x * 1.7 + 0.3)), normal(40), "tanh", "backward", "derivative-rounding"
    ),
}

AUTOCAST = {
    "a matrix product": ModeCase(
        lambda x: _S((x @ x) ** 2), normal(9, 9), "matmul", "forward", "narrow-inputs"
    ),
    "attention with large logits": ModeCase(
        lambda q: _S(torch.softmax(q @ q.T * 40, -1) @ q),
        normal(7, 7),
        "matmul",
        "forward",
        "narrow-inputs",
        "in bfloat16, 8 bits",
    ),
    "attention by one function": ModeCase(
        lambda q: _S(_F.scaled_dot_product_attention(q[None], q[None], q[None]) ** 2),
        normal(8, 8),
        "matmul",
        "forward",
        "narrow-inputs",
    ),
    "a convolution": ModeCase(
        lambda x: _S(_F.conv2d(x, _KERNEL) ** 2),
        normal(1, 1, 6, 6),
        "convolution",
        "forward",
        "narrow-inputs",
    ),
}

# Kernels of PyTorch's own: what ran is held against the same ops run one by one.
IN_ONE_PIECE = {
    "gelu by tanh": ModeCase(
        lambda x: _S(_F.gelu(x, approximate="tanh")), normal(40), "mul", "backward", "one-piece"
    ),
    "gelu": ModeCase(lambda x: _S(_F.gelu(x)), normal(40), "mul", "backward", "one-piece"),
    "a normalised layer": ModeCase(
        lambda x: _S(_F.layer_norm(x, (8,)) ** 3), normal(8, 8), "mean", "forward", "sum-order"
    ),
    "a normalised layer in bfloat16": ModeCase(
        lambda x: _S(_layer_norm(x.to(torch.bfloat16)).float() ** 3),
        normal(64),
        "sum",
        "backward",
        "one-piece",
    ),
    "a convolution": ModeCase(
        lambda x: _S(_F.conv2d(x, _KERNEL) ** 2),
        normal(1, 1, 6, 6),
        "convolution_transposed",
        "backward",
        "sum-order",
    ),
}

CONTROLS = {
    "softmax by hand": ModeCase(_softmax, normal(9)),
    "a masked root": ModeCase(
        lambda x: _S(torch.where(torch.tensor([False, True]), torch.sqrt(x), 0.0)),
        np.array([0, 4], np.float32),
    ),
    "log(exp(x))": ModeCase(lambda x: _S(torch.log(torch.exp(x))), np.array([100, 2], np.float32)),
    "(x + c) - c": ModeCase(lambda x: ((x + 1e8) - 1e8) ** 2, np.float32(3.3)),
    "tanh": ModeCase(lambda x: _S(torch.tanh(x)), normal(40)),
    "subnormal numbers": ModeCase(lambda x: _S(torch.log(x * x)), np.array([8.9e-20, 2.0], np.float32)),
    "a line": ModeCase(lambda x: _S((x * 1.7 + 0.3) ** 3), normal(20)),
    "cross entropy": ModeCase(lambda x: _F.cross_entropy(x, torch.tensor([1, 2])), normal(2, 9)),
}
