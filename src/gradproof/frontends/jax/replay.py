"""What runs a changed program in JAX as the user's program ran: how a fix is tried out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradproof.frontends.jax.emit import gradient_in
from gradproof.ir.capture import Capture
from gradproof.ir.program import Program


def replay_of(capture: Capture) -> Callable[[Program, int], Any]:
    """Op by op: a compiled function has its values from that, too, where they were not returned."""
    return partial(gradient_in, False)
