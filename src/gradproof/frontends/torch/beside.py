"""Tensors that the forward of an `autograd.Function` uses beside its arguments: nothing comes back to them."""

from __future__ import annotations

from gradproof.frontends.record.flow import ancestors, descendants, gives, takes
from gradproof.frontends.record.model import CustomScope, GradientCall, OpEvent
from gradproof.ir.capture import Break

_CHECKPOINT = "CheckpointFunction"  # the reentrant kind, which runs what it is given as such a function


def beside_the_arguments(call: GradientCall, k: int) -> Break | None:
    """The use of a source inside such a function that was not given it; None where there is no such use."""
    source = call.sources[k]
    forward = [event for event in (*call.older, *call.events) if event.phase == "forward"]
    forward.sort(key=lambda event: event.index)
    reached = descendants(forward, {source.value.id}) | {source.value.id}
    needed = ancestors(forward, {target.value.id for target in call.targets})
    for scope in call.scopes:
        own = [event for event in forward if event.scope == scope.id]
        made = {value.id for event in own for value in event.outputs}
        entering = reached - made - {value.id for value in scope.inputs}
        used = next((event for event in own if takes(event, entering) and gives(event, needed)), None)
        if used is not None and not any(value.id in reached for value in scope.inputs):
            return _told(call, source.name, scope, used)
    return None


def _told(call: GradientCall, name: str, scope: CustomScope, used: OpEvent) -> Break:
    called = () if call.span is None else ((call.span, call.ending),)
    if scope.name == _CHECKPOINT:
        facts = {
            "headline": f"there is no gradient for `{name}`: a reentrant checkpoint was given nothing that "
            "requires one",
            "why": "With `use_reentrant=True` the checkpoint computes without a graph, and is computed again in "
            "the backward pass. PyTorch comes back to it only if one of its arguments requires a gradient; "
            "parameters of what is checkpointed are none of them.",
            "remedy": "pass `use_reentrant=False` to `checkpoint`",
        }
        return Break("outside-tape", scope.span, "computes without a graph", called, facts)
    facts = {
        "headline": f"there is no gradient for `{name}`: `{scope.name}` uses it without being given it",
        "why": "Inside the forward of an `autograd.Function` no graph is kept, and its `backward` returns gradients "
        f"for its arguments alone. `{name}` is none of them.",
        "remedy": f"pass `{name}` to `{scope.name}.apply` as an argument, and return its gradient from `backward`",
    }
    return Break("outside-tape", used.span, "is no argument here", called, facts)
