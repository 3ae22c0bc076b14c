"""What the shared rooms need to know about JAX: its lowerings, and what its primitives do to the flow of numbers."""

from __future__ import annotations

from gradproof.frontends.assemble.dialect import Dialect, Role
from gradproof.frontends.jax.kernels import kernel_of
from gradproof.frontends.jax.lower import TABLE
from gradproof.frontends.record.model import RETURN_OP

_DISCRETE = (
    "argmax", "argmin", "round", "floor", "ceil", "sign", "eq", "ne", "lt", "le", "gt", "ge", "is_finite", "and", "or",
    "not", "xor",
)  # fmt: skip
# New numbers for every key; a key is an argument like any other.
_LEAVING = ("pure_callback", "io_callback", "ffi_call")

ROLES: dict[str, Role] = {
    RETURN_OP: "pass-on",
    "stop_gradient": "stop",
    "convert_element_type": "cast",
    **dict.fromkeys(_LEAVING, "leave"),
    **dict.fromkeys(_DISCRETE, "discrete"),
}

DIALECT = Dialect(TABLE, ROLES, kernel_of, sees_reads=True)
