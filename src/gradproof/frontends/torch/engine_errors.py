"""Messages of PyTorch's engine, as they are told where nobody listened to the call: its ops are not known then."""

from __future__ import annotations

from gradproof.frontends.torch.known_error import KnownError

_LISTEN = "run again with `--checks all`, which listens to every call and names the line to blame"

ENGINE_ERRORS = (
    KnownError(
        r"backward through the graph a second time",
        "graph-grows",
        "the graph that this call goes through is already freed",
        "comes to what is gone",
        "`backward()` frees the graph it goes through. A value of an earlier step is still used in this one, or the "
        "same loss is differentiated twice.",
        f"cut the history where a step begins: `state = state.detach()`; or {_LISTEN}",
    ),
    KnownError(
        r"needed for gradient computation has been modified by an inplace operation",
        "reassigned-variable",
        "a number that this gradient needs was overwritten in place",
        "needs a number from before",
        "PyTorch keeps the numbers an op was given, because its derivative is computed from them. The engine sees that "
        "the version of one has moved on, and stops.",
        f"compute a new tensor instead of changing one; or {_LISTEN}",
    ),
    KnownError(
        r"element \d+ of tensors does not require grad|One of the differentiated Tensors does not require grad",
        "not-watched",
        "there is no gradient: this tensor was computed from nothing that requires one",
        "has no graph",
        "PyTorch keeps the graph only of what was computed from tensors with `requires_grad=True`, outside of "
        "`no_grad` and without `detach`, `.item()` or NumPy between.",
        _LISTEN,
    ),
    KnownError(
        r"appears to not have been used in the graph",
        "not-connected",
        "a gradient is asked for a tensor that the target was not computed from",
        "asks for it",
        "No op that ran leads from it to the target.",
        "use it in the target, or pass `allow_unused=True`, which gives None",
    ),
    KnownError(
        r"unction \w+Backward returned an (?:incorrect number of gradients|invalid gradient)",
        "custom-gradient",
        "PyTorch refuses what a hand-written gradient returns",
        "what it returns is refused",
        "A rule returns one gradient for each argument, in their order, each of the shape and dtype of its argument.",
        "return one gradient for every argument, of its shape and dtype",
    ),
    KnownError(
        r"Function '\w+' returned nan values",
        "singular-point",
        "anomaly detection stops the gradient because it becomes NaN",
        "becomes NaN in the backward pass",
        "The value of the function may be finite while its slope is not, as that of `sqrt` at 0. An infinite slope "
        "times a gradient of 0, as a mask or `where` gives, is NaN.",
        _LISTEN,
    ),
    KnownError(
        r"the derivative for .* is not implemented",
        "no-gradient-registered",
        "an op on the path has a value in PyTorch, and no derivative",
        "cannot pass it",
        "PyTorch has no rule for this op, or none for this argument of it.",
        "compute the step with other ops, or write an `autograd.Function` for it",
    ),
)
