"""Whether random numbers are a sample of what is learnt, as in `mean + exp(log_variance / 2) * noise`."""

from __future__ import annotations

from gradproof.frontends.assemble.dialect import dialect_of
from gradproof.frontends.record.flow import takes
from gradproof.frontends.record.model import GradientCall, OpEvent

_SAME_NUMBERS = ("read", "gather", "pass-on", "cast")  # what an op of these roles gives is the source itself


def is_sample(call: GradientCall, drawn: OpEvent) -> bool:
    """Whether the numbers, and what is made of them and data alone, meet nothing but values computed from the sources.

    Noise that is laid over data, or over a source as it is, changes the function that is learnt; a sample of a
    distribution whose parameters are computed is that function.
    """
    role = dialect_of(call.framework).role
    bare = {
        value.id for source in call.sources for value in (source.value, source.variable) if value is not None
    }
    noise = {value.id for value in drawn.outputs}
    computed: set[int] = set()
    is_met = False
    for event in call.events:
        if event.phase != "forward" or event is drawn:
            continue
        made = {value.id for value in event.outputs}
        if takes(event, noise) and takes(event, bare):
            return False
        if takes(event, noise) and takes(event, computed):
            is_met = True
        elif takes(event, noise):
            noise |= made
            continue
        if takes(event, bare) and role(event) in _SAME_NUMBERS:
            bare |= made
        elif takes(event, bare | computed):
            computed |= made
    return is_met
