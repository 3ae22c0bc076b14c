"""Which of JAX's primitives that have a derivative have an exact meaning here, computed from its own registry."""

from __future__ import annotations

import re
from functools import partial

import jax.experimental.sparse
import jax.scipy.special  # noqa: F401  # fills the registry
from jax._src.interpreters import ad

from gradproof.frontends.jax.lower import TABLE
from gradproof.frontends.jax.read.interpret import BODIES
from gradproof.frontends.jax.read.told import TOLD

_OUT_OF_SCOPE = (
    (r"bcoo_.*|bcsr_.*|coo_.*|csr_.*|spsolve|todense", "sparse arrays"),
    (
        r"accum_grad_in_ref|addupdate|swap|get|empty_ref|free_ref|freeze|new_ref|ref|run_state|new_box|box_.*|log_.*|new_log",
        "mutable arrays",
    ),
    (
        r"all_.*|psum.*|pmax|pmin|ppermute|pbroadcast|preduced|pvary|ragged_all_to_all|reduce_scatter|unreduced_.*"
        r"|reduced_vary_cast.*|vary_unreduced_cast.*|shard_map|pgather|xla_pmap",
        "communication between devices",
    ),
    (r".*_callback|ffi_call|debug_.*|inspect_sharding|dce_sink", "computed outside of JAX"),
    (
        r"call_hi_primitive.*|eval_jaxpr|tie|to_edtype|from_edtype|custom_lin",
        "JAX's own scaffolding",
    ),
)  # fmt: skip


def coverage() -> tuple[list[str], list[str], dict[str, str], list[str]]:
    """Covered primitives, opaque ones, those out of scope with the reason, and covered ones without a derivative."""
    registries = (
        ad.primitive_jvps,
        ad.primitive_transposes,
        ad.primitive_linearizations,
        ad.fancy_transposes,
    )
    zero = {
        p.name
        for p, rule in ad.primitive_jvps.items()
        if isinstance(rule, partial) and rule.func is ad.zero_jvp
    }
    differentiable = sorted({p.name for registry in registries for p in registry} - zero)
    known = {*TABLE, *BODIES, *TOLD}
    reasons = {name: _out_of_scope(name) for name in differentiable if name not in known}
    out = {name: reason for name, reason in reasons.items() if reason is not None}
    covered = [name for name in differentiable if name in known]
    opaque = [name for name in differentiable if name not in known and name not in out]
    others = sorted(
        name for name in TABLE if name not in differentiable and "." not in name and ":" not in name
    )
    return covered, opaque, out, others


def _out_of_scope(name: str) -> str | None:
    return next((reason for pattern, reason in _OUT_OF_SCOPE if re.fullmatch(pattern, name)), None)
