"""The lowerings that take complex numbers: those that were tried with them.

A test has a sample of each at random complex numbers, against differences of JAX's own calls. A primitive that is not
listed here has no meaning for complex numbers, and a gradient that runs through it is unverified by its name.
"""

from __future__ import annotations

_NAMES = """
    abs acos acosh add add_any asin asinh atan atanh broadcast_in_dim cholesky concatenate conj
    conv_general_dilated convert_element_type copy cos cosh cumsum device_put div dot_general
    dynamic_slice dynamic_update_slice eig eq exp exp2 expm1 fft gather gradproof.row gradproof.solve
    gradproof.stack imag integer_pow library:_slogdet_lu library:det log log1p logistic lu mul name ne neg
    optimization_barrier pad pow real reduce_prod reduce_sum reduce_window_sum reshape rev rsqrt scatter
    scatter-add scatter-mul scatter-sub select_n sign sin sinh slice split sqrt square squeeze stack
    stop_gradient sub tan tanh tile transpose triangular_solve tridiagonal_solve unstack
"""
COMPLEX = frozenset(_NAMES.split())
