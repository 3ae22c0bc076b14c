"""Runs a program in each of JAX's execution modes: op by op, and compiled."""

from __future__ import annotations

from functools import partial

from gradproof.frontends.jax.emit import gradient_in
from gradproof.ir.program import Program
from gradproof.ir.types import Array

MOST_NODES = 200  # compiling a program takes about a millisecond for every op


def _small(is_compiled: bool, program: Program, wrt: int) -> Array | None:
    return None if len(program.nodes) > MOST_NODES else gradient_in(is_compiled, program, wrt)


MODES = {
    "the forward ops, by JAX, op by op": partial(_small, False),
    "the forward ops, by JAX, compiled": partial(_small, True),
}
