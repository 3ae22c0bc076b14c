"""Why a gradient is missing, in PyTorch's own terms."""

from __future__ import annotations

from dataclasses import replace
from linecache import getline

from gradproof.frontends.missing.source_lines import rebinds
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.torch.beside import beside_the_arguments
from gradproof.frontends.torch.record.facts import OLDER
from gradproof.frontends.torch.second_order import without_graph
from gradproof.ir.capture import Break


def said(call: GradientCall, k: int, why: Break) -> Break:
    """The reason with headline, explanation and advice as facts; others speak of tapes."""
    unheard = without_graph(call, k) if why.kind in _PERHAPS_A_RULE else None
    if unheard is not None or "why" in why.facts:
        return unheard or why
    name = call.sources[k].name
    beside = beside_the_arguments(call, k)
    if beside is not None:
        return beside
    why = why if call.sources[k].is_collected else _on_the_way(call, k)
    if why.kind == "outside-tape" and call.sources[k].value.id not in {id for id, _ in call.tape.watched}:
        # No op on the way is in a graph because the source is in none, whatever else keeps them out.
        why = Break("not-watched", call.span, call.ending, (), {"what": "a tensor without `requires_grad`"})
    why = _given_away(call, k) or why if why.kind == "not-watched" else why
    if (
        why.kind == "outside-tape"
        and why.span is not None
        and _DRAWN in getline(why.span.file, why.span.line)
    ):
        why = replace(why, facts={**why.facts, "with a graph": "rsample"})
    target = ", ".join(one.name for one in call.targets) or "the target"
    words = _WORDS.get(why.kind)
    if words is None or "refused" in why.facts or why.facts.keys() & {"exchanged", "plain", "in", "stored"}:
        return why
    told = words(name, target, why)
    if told is None:
        return why
    headline, explanation, remedy = told
    label = _LABELS.get(why.kind, why.label)
    facts = {**why.facts, "headline": headline, "why": explanation, "remedy": remedy}
    if why.kind == "not-watched":
        facts |= {"made without": "requires_grad", "what": "a tensor without `requires_grad`"}
    if not call.sources[k].is_read:
        facts["unread"] = "True"
    return replace(why, facts=facts, label=label)


_DRAWN = ".sample("
_PERHAPS_A_RULE = ("outside-tape", "not-connected", "not-watched")
_LABELS = {"outside-tape": "computed where no graph is kept"}


def _on_the_way(call: GradientCall, k: int) -> Break:
    """The line that made a tensor which is no leaf."""
    id = call.sources[k].value.id
    made = next((event for event in call.events if any(value.id == id for value in event.outputs)), None)
    called = () if call.span is None else ((call.span, "collects no gradient in it"),)
    span = call.span if made is None else made.span
    rebound = {"rebound": "yes"} if rebinds(span, call.sources[k].name) else {}
    return Break(
        "reassigned-variable", span, "is computed here, so it is not a leaf", called, {"leaf": "no"} | rebound
    )


def _given_away(call: GradientCall, k: int) -> Break | None:
    """The line that gave the name of a leaf to a plain tensor computed from it, as `w = w - step` under `no_grad`."""
    id = call.sources[k].value.id
    made = next((e for e in (*call.older, *call.events) if any(value.id == id for value in e.outputs)), None)
    if made is None or not rebinds(made.span, call.sources[k].name):
        return None
    called = () if call.span is None else ((call.span, call.ending),)
    return Break(
        "reassigned-variable", made.span, "is a new tensor from here on", called, {"given away": "yes"}
    )


Told = tuple[str, str, str] | None


def _not_watched(name: str, target: str, why: Break) -> Told:
    return (
        f"there is no gradient for `{name}` because it does not require one",
        f"`{target}` does depend on `{name}`, but PyTorch keeps the graph only of what was computed from tensors with "
        f"`requires_grad=True`. `{name}` was made without it.",
        f"make it with `requires_grad=True`, or call `{name}.requires_grad_()` before it is used",
    )


def _stopped(name: str, target: str, why: Break) -> Told:
    return (
        f"there is no gradient for `{name}` because `detach` cuts the path to `{target}`",
        f"`{target}` does depend on `{name}`, but only through a value that `detach()` or `.data` has cut off from its "
        "history. What comes after is a constant to PyTorch.",
        "leave out `detach()` where the gradient is meant to pass",
    )


def _outside(name: str, target: str, why: Break) -> Told:
    if "with a graph" in why.facts:
        return (
            f"there is no gradient for `{name}`: `sample()` draws numbers without a graph",
            "`sample()` of a distribution draws under `no_grad`, and what it returns is a constant to PyTorch. "
            "`rsample()` computes its numbers from the parameters and from noise, so that a gradient passes.",
            "draw with `rsample()`",
        )
    return (
        f"there is no gradient for `{name}`: part of `{target}` was computed under `no_grad`",
        f"`{target}` does depend on `{name}`, but inside `torch.no_grad()` and `torch.inference_mode()` PyTorch keeps "
        "no graph. What was computed there is a constant, and the way back ends at it.",
        "compute this part outside of `torch.no_grad()`",
    )


def _left(name: str, target: str, why: Break) -> Told:
    how = why.facts.get("how", "item()")
    return (
        f"there is no gradient for `{name}`: its numbers left PyTorch by `{how}`",
        f"`{how}` returns plain numbers, which know nothing of what they were computed from. What is computed from "
        "them is a constant to PyTorch.",
        "stay with tensors up to the loss, and read numbers only to print them",
    )


def _not_connected(name: str, target: str, why: Break) -> Told:
    use_it = f"use `{name}` in `{target}`, or freeze it with `requires_grad_(False)`"
    unseen = why.facts.get("unseen")
    if unseen is not None:
        listen = "run again with `--checks all`, which listens from the beginning"
        return (
            f"there is no gradient for `{name}`: no op in the record leads from it to `{target}`",
            f"{unseen[:1].upper()}{unseen[1:]}. If it was computed from `{name}`, that was under `no_grad` or was "
            "detached. If it was not, leave it out of the optimizer.",
            f"{listen}, or {use_it}" if unseen == OLDER else use_it,
        )
    return (
        f"there is no gradient for `{name}` because `{target}` was not computed from it",
        f"No op that ran leads from `{name}` to `{target}`. If it is not meant to take part, leave it out of the "
        "optimizer. If it is, something else was used in its place.",
        use_it,
    )


def _discrete(name: str, target: str, why: Break) -> Told:
    op = why.facts.get("op", "an op")
    return (
        f"there is no gradient for `{name}`: `{op}` lies on the path to `{target}`",
        f"The result of `{op}` is constant between its jumps, so its derivative is zero wherever it has one, and "
        "PyTorch keeps no graph for it.",
        "use a smooth function in its place, or a straight-through estimator if that is meant",
    )


def _integer(name: str, target: str, why: Break) -> Told:
    return (
        f"there is no gradient for `{name}` because its dtype is {why.facts.get('dtype', 'an integer')}",
        "Only tensors of floating point or complex numbers have gradients: an integer cannot move a little.",
        f"make `{name}` of floats, for example with `.float()`, before it requires a gradient",
    )


def _rebound(name: str, target: str, why: Break) -> Told:
    if "changed" in why.facts:
        op, is_step = why.facts["changed"], why.facts.get("by") == "step"
        writer = "a step of the optimizer" if is_step else f"`{op}_`"
        return (
            f"{writer} overwrites a number that the gradient of `{target}` needs",
            "PyTorch keeps the numbers an op was given, because its derivative is computed from them. This line "
            "changes such a tensor in place afterwards; the engine sees that its version has moved on, and stops.",
            "let the optimizer step after the last `backward()` that goes through these parameters"
            if is_step
            else "change a copy: `x = x.clone()` before this line"
            if op == "copy"
            else f"compute a new tensor here, with `{op}` instead of `{op}_`, or `x = x + y` instead of `x += y`",
        )
    if "given away" in why.facts:
        return (
            f"there is no gradient for `{name}`: from here on it is a new tensor that does not require one",
            f"This line computes a new tensor without a graph and gives it the name `{name}`. The leaf that had "
            "gradients under this name is not changed, and not used any more.",
            f"change the leaf itself, under `torch.no_grad()`: `{name} -= step`; or `{name}.requires_grad_()` again",
        )
    if "rebound" in why.facts:
        return (
            f"the gradient for `{name}` is None because from here on `{name}` is a new tensor, which is not a leaf",
            f"PyTorch collects gradients in leaves: tensors made with `requires_grad=True`. This line computes a new "
            f"tensor and gives it the name `{name}`. The gradient goes to the leaf that had the name before, and "
            f"`{name}.grad` stays None.",
            f"change the leaf in place, under `torch.no_grad()`: `{name} -= step`, and then `{name}.grad = None`",
        )
    if "leaf" in why.facts:
        return (
            f"the gradient for `{name}` is None because `{name}` is computed from the leaf, and is not one",
            f"PyTorch collects gradients in leaves: tensors made with `requires_grad=True`. This line makes one and at "
            f"once computes `{name}` from it, so that the gradient goes to a tensor that has no name any more.",
            f"let `{name}` be the leaf: compute first, then call `{name}.requires_grad_()`; or `{name}.retain_grad()`",
        )
    return None


def _again(name: str, target: str, why: Break) -> Told:
    if why.facts.get("again") == "value":
        return (
            f"`{target}` reaches back into a step whose graph is already freed",
            "`backward()` frees the graph it goes through. This line computes with a value of the step before, so that "
            "the graph of this step hangs on the old one, and the engine comes to what is gone. With "
            "`retain_graph=True` the graph would grow with every step.",
            "cut the history where a step begins: `state = state.detach()`",
        )
    if why.facts.get("again") == "shared":
        return (
            f"this call frees a part of the graph that `{target}` still needs",
            f"`backward()` frees the graph it goes through. `{target}` was computed from some of the same values, and "
            "its own `backward()` comes to what is gone.",
            "add the losses and call `backward()` once; or pass `retain_graph=True` to this call",
        )
    return (
        f"the graph of `{target}` was freed by an earlier gradient call",
        "`backward()` and `autograd.grad` free the graph they go through, so that a second call finds nothing to go "
        "through.",
        "compute the loss anew, or pass `retain_graph=True` to the first call",
    )


_WORDS = {
    "not-watched": _not_watched,
    "stop-gradient": _stopped,
    "outside-tape": _outside,
    "left-framework": _left,
    "not-connected": _not_connected,
    "discrete-op": _discrete,
    "integer-dtype": _integer,
    "reassigned-variable": _rebound,
    "graph-grows": _again,
}
