"""The program that has no cuts: what would have been differentiated, had no number left the framework."""

from __future__ import annotations

from dataclasses import replace

from gradproof.errors import GradproofError
from gradproof.frontends.assemble.capture import assembled
from gradproof.frontends.assemble.program import Assembly
from gradproof.frontends.assemble.view import RETURNED
from gradproof.ir.capture import Capture
from gradproof.ir.program import ancestors
from gradproof.ir.surroundings import Uncut


def with_uncut(capture: Capture, made: Assembly) -> Capture:
    """The capture with the program that has no cuts, if numbers left the framework and came back into the target.

    `made` is what the capture was made from; it may be written on, since nothing more is made of it.
    """
    try:
        if not made.comebacks.are_possible or not _any_came_back(made):
            return capture
        returned, whole = assembled(made.call, RETURNED)
    except GradproofError:
        return capture
    if not returned.comebacks.cuts or whole.program is None:
        return capture
    behind = ancestors(whole.program, whole.program.outputs)
    nodes = tuple(source.node if source.node in behind else None for source in whole.sources)
    uncut = Uncut(whole.program, nodes, tuple(dict.fromkeys(returned.comebacks.cuts)))
    return replace(capture, around=replace(capture.around, uncut=uncut))


def _any_came_back(made: Assembly) -> bool:
    """Whether a leaf that was taken as given holds numbers of the program, by what was known when it was taken."""
    call = made.call
    computed = {output.id for event in (*call.older, *call.events) for output in event.outputs}
    if any(one.value.id not in computed | made.leaf_sources.keys() for one in call.targets):
        return True  # a plain number, which only its text tells of
    for source in call.sources:
        if source.variable is None:
            made.tensor(source.value)
    nodes = dict(made.nodes)
    for event, value in reversed(made.leaves):
        del nodes[value.id]
        if made.comebacks.connected(made.m, nodes, event, value) is not None:
            return True
    return False
