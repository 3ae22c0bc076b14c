"""Whether a traced function takes what it is differentiated for as a constant too.

In a jaxpr both are the same variable, and nothing in it tells one use from the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jax._src.interpreters import ad

from gradproof.frontends.jax.observe.notes import Linearisation
from gradproof.frontends.jax.observe.peel import bottom
from gradproof.frontends.record.patches import apply, wrap


@contextmanager
def watching(noted: Linearisation) -> Iterator[None]:
    """While the function is traced, look at every value that a primitive is given."""
    sources = {one.value for one in noted.sources if one.is_staged}

    def look(original: Any, trace: Any, value: Any) -> Any:
        is_own = isinstance(value, ad.LinearizeTracer) and value._trace.tag is trace.tag
        if trace.tag is noted.tag and not is_own and not noted.is_shared:
            try:
                found = bottom(value)
                noted.is_shared = found.is_staged and found.value in sources
            except NotImplementedError:
                pass
        return original(trace, value)

    remove = apply([wrap(ad.LinearizeTrace, "to_primal_tangent_pair", look)])
    try:
        yield
    finally:
        remove()
