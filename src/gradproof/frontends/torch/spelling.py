"""What users call the ops of PyTorch, which have names of their own underneath."""

from __future__ import annotations

from functools import lru_cache

import torch

from gradproof.frontends.torch.roles import plain_name

_OTHERWISE = {
    "_to_copy": "Tensor.to", "convert_element_type": "Tensor.to", "_euclidean_dist": "torch.cdist",
    "_cdist_forward": "torch.cdist", "_pdist_forward": "torch.pdist", "native_dropout": "dropout",
    "_local_scalar_dense": "Tensor.item", "mkldnn_rnn_layer": "torch.nn.LSTM", "_fft_c2c": "torch.fft.fft",
    "_fft_r2c": "torch.fft.rfft", "_fft_c2r": "torch.fft.irfft", "_linalg_det": "torch.linalg.det",
    "_linalg_eigh": "torch.linalg.eigh", "_linalg_svd": "torch.linalg.svd", "_linalg_slogdet": "torch.linalg.slogdet",
    "_linalg_solve_ex": "torch.linalg.solve", "_scaled_dot_product_flash_attention_for_cpu":
    "torch.nn.functional.scaled_dot_product_attention", "_standard_gamma": "torch.distributions.Gamma.rsample",
    "_sample_dirichlet": "torch.distributions.Dirichlet.rsample", "_sparse_addmm": "torch.sparse.mm",
    "nll_loss_forward": "torch.nn.functional.nll_loss", "nll_loss2d_forward": "torch.nn.functional.nll_loss",
}  # fmt: skip
_COMPARISONS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_FAMILIES = ("linalg", "special", "fft")


@lru_cache(maxsize=4096)
def spelled(op: str) -> str:
    """`torch.where` for `aten.where.self`; what has no such name keeps its own."""
    if not op.startswith(("aten.", "prims.")):
        return op
    plain = plain_name(op)
    if plain in _OTHERWISE or plain in _COMPARISONS:
        return _OTHERWISE.get(plain) or _COMPARISONS[plain]
    for name in (plain.removeprefix("native_"), plain.removeprefix("_")):
        for family in _FAMILIES:
            if name.startswith(f"{family}_") and hasattr(getattr(torch, family), name[len(family) + 1 :]):
                return f"torch.{family}.{name[len(family) + 1 :]}"
        for owner, where in (
            (torch, "torch"),
            (torch.nn.functional, "torch.nn.functional"),
            (torch.Tensor, "Tensor"),
        ):
            if not name.startswith("_") and hasattr(owner, name):
                return f"{where}.{name}"
    return plain
