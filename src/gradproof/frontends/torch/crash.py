"""The exception that ended a program that uses PyTorch: what it means for its gradients, at the user's line.

Those that the engine itself raised are told with the gradients they prevented; here are the ones from before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic, Fix
from gradproof.frontends.attachment import Crash
from gradproof.frontends.record.source import span_of, users_place


@dataclass(frozen=True)
class _KnownError:
    """One message of PyTorch's: how it is told, and what mends it."""

    pattern: str
    kind: str
    headline: str
    label: str
    why: str
    fix: str


_LEAF = (
    "A leaf is a tensor that gradients are collected in, such as a parameter. The graph needs the number it had when "
    "it was used, so that no op which is recorded may overwrite it."
)
_KNOWN = (
    _KnownError(
        r"grad can be implicitly created only for scalar outputs",
        CRASH,
        "`backward()` needs one number, and this tensor has several",
        "has more than one entry",
        "A gradient is that of one number. Of several, `backward()` cannot know how much each of them counts.",
        "make one number of it, with `.mean()` or `.sum()`, or pass weights: `backward(torch.ones_like(y))`",
    ),
    _KnownError(
        r"(?i)only Tensors of floating point (?:and complex )?dtype can require gradients",
        "integer-dtype",
        "a tensor of integers cannot require a gradient",
        "asks integers for a gradient",
        "Only tensors of floating point or complex numbers have gradients: an integer cannot move a little.",
        "write the numbers as floats, `1.0` for `1`, or pass `dtype=torch.float32`",
    ),
    _KnownError(
        r"a view of a leaf Variable that requires grad is being used in an in-place operation",
        "reassigned-variable",
        "this line overwrites entries of a leaf while its use is recorded",
        "changes a part of it in place",
        _LEAF,
        "change a copy: `y = x.clone()` first; an update of parameters belongs into `with torch.no_grad():`",
    ),
    _KnownError(
        r"a leaf Variable that requires grad (?:is being|has been) used in an in-place operation",
        "reassigned-variable",
        "this line overwrites a leaf while its use is recorded",
        "changes it in place",
        _LEAF,
        "compute a new tensor, `y = x + ...`; an update of parameters belongs into `with torch.no_grad():`",
    ),
    _KnownError(
        r"is a view and (?:is being|its base or another view of its base has been) modified inplace",
        "reassigned-variable",
        "this line changes a view in place that shares its memory with others",
        "changes it in place",
        "This tensor is one of several views of the same memory. Their graph cannot tell which of them is changed, so "
        "that PyTorch refuses.",
        "change a copy: put `.clone()` behind the view, or compute a new tensor",
    ),
    _KnownError(
        r"Can't call numpy\(\) on Tensor that requires grad",
        "left-framework",
        "NumPy is given a tensor that requires a gradient",
        "leaves PyTorch here",
        "An array of NumPy knows nothing of what it was computed from: whatever is computed from it has no gradient. "
        "PyTorch wants that to be said.",
        "for a number to look at use `x.detach().numpy()`; for a loss use the function of the same name in "
        "`torch`",
    ),
    _KnownError(
        r"can't retain_grad on Tensor that has requires_grad=False|cannot register a hook on a tensor that doesn't",
        "not-watched",
        "no gradient will ever come to this tensor, because it does not require one",
        "asks for a gradient that there will not be",
        "PyTorch keeps the graph only of what was computed from tensors with `requires_grad=True`; this one was not.",
        "make what it is computed from with `requires_grad=True`, or leave out `no_grad` and `detach` between them",
    ),
    _KnownError(
        r"you can only change requires_grad flags of leaf variables",
        "reassigned-variable",
        "this tensor is computed from others, and cannot stop requiring a gradient by itself",
        "is no leaf",
        "Whether a computed tensor requires a gradient follows from what it was computed from.",
        "cut it off with `x = x.detach()`, or change the flag of the leaves it comes from",
    ),
    _KnownError(
        r"can't optimize a non-leaf Tensor",
        "reassigned-variable",
        "the optimizer is given a tensor that is computed from the leaf, and is not one",
        "is no leaf",
        "PyTorch collects gradients in leaves. What is computed from one, be it by `.to()`, a product or a reshape, "
        "gets none, so that there would be nothing to step with.",
        "compute first and then call `requires_grad_()`, or wrap the result in `torch.nn.Parameter`",
    ),
    _KnownError(
        r"Inference tensors cannot be saved for backward|Inplace update to inference tensor outside InferenceMode",
        "outside-tape",
        "a tensor made under `inference_mode` is used where a graph is kept",
        "needs it for its gradient",
        "A tensor made inside `torch.inference_mode()` can never take part in a graph, not even as a constant.",
        "make it under `torch.no_grad()`, or use `x.clone()` outside of `inference_mode`",
    ),
    _KnownError(
        r"Mismatch in shape: grad_output\[\d+\] has a shape of",
        CRASH,
        "the weights of `backward` have another shape than the tensor",
        "asks with weights of another shape",
        "The argument of `backward` has one number for each entry of the tensor: how much it counts.",
        "pass weights like `torch.ones_like(y)`, or make one number of the tensor first",
    ),
    _KnownError(
        r"Only Tensors created explicitly by the user .* support the deepcopy protocol",
        "reassigned-variable",
        "a tensor with a history cannot be copied with it",
        "copies a computed tensor",
        "A deep copy would have to copy the graph behind the tensor, too.",
        "copy the numbers: `x.detach().clone()`",
    ),
    _KnownError(
        r"unscale_\(\) has already been called on this optimizer since the last update",
        "stale-accumulation",
        "the gradients are divided by the loss scale a second time",
        "unscales once more",
        "`unscale_` divides the gradients by the scale that the loss was multiplied with. Twice would be too often.",
        "call `scaler.unscale_(optimizer)` once for each `scaler.step(optimizer)`, and `scaler.update()` after it",
    ),
)


def explain(error: BaseException) -> Crash | None:
    """None where it is no exception about gradients, or no line of the user's led to it."""
    place = users_place(error.__traceback__)
    known = next((one for one in _KNOWN if re.search(one.pattern, str(error))), None)
    if place is None or known is None or not isinstance(error, RuntimeError | ValueError | TypeError):
        return None
    return Crash(
        Diagnostic(
            kind=known.kind,
            severity="error",
            certainty="measured",
            headline=known.headline,
            primary=Annotation(span_of(place), known.label),
            why=known.why,
            fix=Fix(known.fix),
        )
    )
