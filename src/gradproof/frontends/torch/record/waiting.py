"""A gradient call that is told only when the program has gone on: then it is known what became of its gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradproof.frontends.record.model import GradientCall, Observed, Value
from gradproof.frontends.torch.record.leftover import Leftovers
from gradproof.ir.capture import Stale


@dataclass(frozen=True, eq=False)
class Waiting:
    """The call, the leaves its sources are, what some of them held before, and what these hold now."""

    call: GradientCall
    leaves: Sequence[int]
    held: Mapping[int, Any]
    grads: Mapping[int, Value]

    def settled(self, leftovers: Leftovers) -> GradientCall:
        """Where a leaf was updated with all that it holds, that is the gradient the program has used."""
        sources, observed = list(self.call.sources), list(self.call.observed)
        for k, key in enumerate(self.leaves):
            if key in self.held and k < len(observed) and leftovers.confirmed(key):
                sources[k] = replace(sources[k], stale=Stale(self.held[key]))
                observed[k] = Observed(self.grads[key])
        return replace(self.call, sources=tuple(sources), observed=tuple(observed))
