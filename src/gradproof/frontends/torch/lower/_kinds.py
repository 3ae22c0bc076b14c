"""The lowerings that take complex numbers: those that were tried with them.

The tests have a call of each at random complex numbers, against differences of PyTorch's own calls. An op that is not
listed here has no meaning for complex numbers, and a gradient that runs through it is unverified by its name.
"""

from __future__ import annotations

_NAMES = """
    _conj _conj_physical _fft_c2c _fft_c2r _linalg_det _linalg_solve_ex _to_copy _unsafe_view abs acos acosh
    add addcdiv addcmul addmm addmv addr angle as_strided asin asinh atan atanh baddbmm bmm cat clone
    constant_pad_nd copy_ cos cosh cumprod cumsum detach diag_embed diagonal diagonal_backward diagonal_copy
    dist div dot empty_like eq exp exp2 expand expm1 fill flip full_like gather gradproof.Gather
    gradproof.PassOn gradproof.Write index index_add index_copy index_fill index_put index_select lerp
    linalg_cholesky_ex linalg_cross linalg_inv_ex linalg_matrix_exp linalg_solve_triangular linalg_vector_norm
    log log10 log1p log2 masked_fill masked_scatter masked_select mean mm mul mv neg new_empty_strided
    new_ones new_zeros ones_like permute pow prod put rand_like randn_like reciprocal reflection_pad1d
    reflection_pad1d_backward repeat replication_pad1d replication_pad1d_backward roll rsqrt rsub scatter.src
    scatter.value scatter_add select select_backward sgn sigmoid sigmoid_backward sin sinh slice
    slice_backward split split_with_sizes sqrt squeeze stack std sub sum t take tan tanh tanh_backward trace
    transpose tril triu unbind unfold unfold_backward unsqueeze var var_mean vdot view view_as_real where
    zero_ zeros_like
"""
COMPLEX = frozenset(_NAMES.split())
