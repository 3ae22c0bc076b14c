"""What PyTorch's ops do to the flow of numbers, and which inputs their rules are for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradproof.frontends.assemble.dialect import Role
from gradproof.ir import types

_ROLES: dict[str, Role] = {
    "Return": "pass-on",  # of compiled code, as what its ops lead to
    **dict.fromkeys(("detach", "detach_copy"), "stop"),
    **dict.fromkeys(("_to_copy", "to", "convert_element_type"), "cast"),
    **dict.fromkeys(
        (
            "argmax", "argmin", "round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "floor_divide", "eq", "ne",
            "lt", "le", "gt", "ge", "bucketize", "searchsorted", "one_hot", "isnan", "isfinite", "isinf",
            "logical_and", "logical_or", "logical_not", "heaviside", "argsort", "nonzero", "bitwise_not",
            "histc", "histogram", "bincount", "count_nonzero",
        ),
        "discrete",
    ),
    **dict.fromkeys(
        (
            "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli", "normal",
            "uniform", "exponential", "multinomial", "poisson", "native_dropout", "random", "cauchy", "geometric",
            "log_normal", "_standard_gamma", "_sample_dirichlet", "binomial", "rrelu_with_noise",
        ),
        "draw",
    ),
    **dict.fromkeys(
        (
            "zeros_like", "ones_like", "empty_like", "full_like", "new_zeros", "new_ones", "new_full", "new_empty",
            "new_empty_strided", "sym_size", "zero",
        ),
        "shape",
    ),
}  # fmt: skip

# Ops whose rule leaves out real inputs: the positions, among the tensors, of those it is for.
_RULE_FOR = {
    "native_batch_norm": (0, 1, 2),
    "_native_batch_norm_legit": (0, 1, 2),
    "binary_cross_entropy": (0, 1),
}


class Roles(Mapping[str, Role]):
    """By the full name of an op, in place or not, whatever its overload."""

    def __getitem__(self, op: str) -> Role:
        return _ROLES[plain_name(op)]

    def __iter__(self) -> Iterator[str]:
        return iter(_ROLES)

    def __len__(self) -> int:
        return len(_ROLES)


def plain_name(op: str) -> str:
    """`mul` of `aten.mul_.Tensor`."""
    packet = op.split(".")[1] if "." in op else op
    return packet[:-1] if packet.endswith("_") and not packet.endswith("__") else packet


def differentiable_inputs(op: str, inputs: Sequence[Any], n_results: int) -> Sequence[int]:
    """Which inputs the results of a rule belong to; none where that is not plain."""
    known = _RULE_FOR.get(plain_name(op))
    if known is not None and len(known) == n_results:
        return known
    real = [k for k, value in enumerate(inputs) if not types.is_discrete(value.dtype)]
    return real if len(real) == n_results else ()
