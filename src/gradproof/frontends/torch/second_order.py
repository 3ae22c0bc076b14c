"""Rules of the user's whose results have no graph, so that nothing can be differentiated through them once more."""

from __future__ import annotations

from gradproof.frontends.record.flow import ancestors, descendants, gives, takes
from gradproof.frontends.record.model import CustomScope, GradientCall, OpEvent
from gradproof.ir.capture import Break

ONCE = "marked with @once_differentiable"
"""In what PyTorch says where it knows of the mark when it comes to such a rule."""


def without_graph(call: GradientCall, k: int) -> Break | None:
    """The rule on the way from a source to the target that ran without a graph; None where there is none."""
    scopes = {scope.id: scope for scope in call.scopes if scope.library is None}
    found = next((scopes[e.scope] for e in _rules_on_the_way(call, k) if e.scope in scopes), None)
    return None if found is None else _told(call, found)


def _rules_on_the_way(call: GradientCall, k: int) -> list[OpEvent]:
    """Ops that ran inside an earlier gradient call, in a function of the user's, where nobody kept a graph."""
    forward = [event for event in (*call.older, *call.events) if event.phase == "forward"]
    forward.sort(key=lambda event: event.index)
    reached = descendants(forward, {call.sources[k].value.id})
    needed = ancestors(forward, {target.value.id for target in call.targets})
    return [e for e in forward if e.within and not e.heard and takes(e, reached) and gives(e, needed)]


def _told(call: GradientCall, scope: CustomScope) -> Break:
    name, target = scope.name, ", ".join(one.name for one in call.targets) or "the target"
    called = () if call.span is None else ((call.span, call.ending),)
    return Break(
        "custom-gradient",
        scope.rule or scope.span,
        "computed without a graph",
        called,
        {
            "op": name,
            "headline": f"the hand-written gradient of `{name}` cannot be differentiated once more",
            "why": (
                f"`{target}` is computed from the result of this rule, and is differentiated again. The rule ran "
                "without a graph: it is marked `once_differentiable`, or computes under `no_grad`. To PyTorch its "
                "result is a constant."
            ),
            "remedy": (
                "leave out `@once_differentiable` and `no_grad`, and compute the rule with differentiable ops from "
                "what `ctx.saved_tensors` holds"
            ),
        },
    )
