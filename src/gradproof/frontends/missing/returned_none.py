"""Rules of the user's that returned nothing for an argument."""

from __future__ import annotations

from gradproof.frontends.record.model import GradientCall
from gradproof.ir import types
from gradproof.ir.capture import Break


def returned_none(call: GradientCall, reached: set[int]) -> Break | None:
    """A rule of the user's ran and returned None for an argument that was computed from the source."""
    scopes = {scope.id: scope for scope in call.scopes}
    for rule in call.pullbacks:
        scope = None if rule.scope is None else scopes.get(rule.scope)
        if scope is None:
            continue
        for k, (value, result) in enumerate(zip(scope.inputs, rule.results)):
            if result is None and value.id in reached and not types.is_discrete(value.dtype):
                at = scope.rule or scope.definition or scope.span
                called = () if call.span is None else ((call.span, "and so does this call"),)
                facts = {"op": scope.name, "argument": str(k + 1)}
                return Break("custom-gradient", at, "returns None for an argument", called, facts)
    return None
