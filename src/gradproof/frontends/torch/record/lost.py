"""Leaves that a gradient call gave nothing to: told once it is known that somebody has waited for it.

A part of a model may be left out on purpose, as the generator while the discriminator learns. Only an optimizer that
steps over a gradient of None, or a program that ends without one that it reads, shows that it was not meant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradproof.frontends.record.model import GradientCall, Operand
from gradproof.frontends.torch.record.steps import Steps

if TYPE_CHECKING:
    from gradproof.frontends.torch.record.finish import Finish

MOST_CALLS = 16  # that are kept at a time
MOST_LEAVES = 1_000


@dataclass(eq=False)
class LostLeaves:
    """One call as if it had been asked for these leaves alone; `are_read` says whose gradients the program reads."""

    call: GradientCall
    tensors: Sequence[Any]
    are_read: Sequence[bool]

    def confirmed(self, stepped: Collection[int] | None) -> GradientCall | None:
        """The call with the leaves that are known to be waited for now; None where there are none.

        Without `stepped` the program has ended: what it reads and has not got is missing.
        """
        found = [k for k, tensor in enumerate(self.tensors) if self._is_waited_for(k, tensor, stepped)]
        if not found:
            return None
        kept = [k for k in range(len(self.tensors)) if k not in found]
        call = replace(self.call, sources=tuple(map(self._source, found)), observed=(None,) * len(found))
        self.tensors = [self.tensors[k] for k in kept]
        self.are_read = [self.are_read[k] for k in kept]
        self.call = replace(self.call, sources=tuple(self.call.sources[k] for k in kept))
        return call

    def _is_waited_for(self, k: int, tensor: Any, stepped: Collection[int] | None) -> bool:
        return tensor.grad is None and (self.are_read[k] if stepped is None else id(tensor) in stepped)

    def _source(self, k: int) -> Operand:
        return replace(self.call.sources[k], is_read=bool(self.are_read[k]))


def lost_leaves(finish: Finish, call: GradientCall) -> LostLeaves | None:
    """The call as if it had been asked for leaves that it has given nothing to."""
    if not finish.lost:
        return None
    events = finish.relevant
    versions, before = finish.versions(events), finish.n_older(events)
    made = tuple(finish.events(events, versions, before))
    sources = []
    for one, _ in finish.lost:
        own = versions.get(id(one.tensor))
        cell = own[0] if own else finish.recorder.memory.read(one.tensor)
        sources.append(Operand(one.name, finish.value(cell)))
    finish.values.read()
    call = replace(
        call,
        sources=tuple(sources),
        observed=(),
        tape=replace(call.tape, watched=tuple((source.value.id, None) for source in sources)),
        events=made[before:],
        older=made[:before],
        leaves=tuple(finish.leaves()),
        is_rest=True,
    )
    return LostLeaves(call, [one.tensor for one, _ in finish.lost], [is_read for _, is_read in finish.lost])


class Lost:
    """All calls that are waited with."""

    def __init__(self, steps: Steps, deliver: Callable[[GradientCall], None]) -> None:
        self._steps, self._deliver = steps, deliver
        self._calls: list[LostLeaves] = []

    def add(self, lost: LostLeaves) -> None:
        self._calls = [*self._calls, lost][-MOST_CALLS:]
        self._steps.listen(self._stepped)

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._tell({id(one) for group in optimizer.param_groups for one in group["params"]})

    def close(self) -> None:
        self._tell(None)
        self._calls = []
        self._steps.leave(self._stepped)

    def _tell(self, stepped: Collection[int] | None) -> None:
        for lost in self._calls:
            call = lost.confirmed(stepped)
            if call is not None:
                self._deliver(call)
        self._calls = [lost for lost in self._calls if any(tensor.grad is None for tensor in lost.tensors)]
        if not self._calls:
            self._steps.leave(self._stepped)
