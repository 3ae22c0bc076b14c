"""Messages of PyTorch's about gradients: how each is told, and what mends it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gradproof.diagnosis.diagnostic import CRASH
from gradproof.frontends.torch.known_error import KnownError
from gradproof.frontends.torch.rule_errors import RULE_ERRORS

_LEAF = (
    "A leaf is a tensor that gradients are collected in, such as a parameter. The graph needs the number it had when "
    "it was used, so that no op which is recorded may overwrite it."
)
_TENSOR_ERRORS = (
    KnownError(
        r"grad can be implicitly created only for scalar outputs",
        CRASH,
        "`backward()` needs one number, and this tensor has several",
        "has more than one entry",
        "A gradient is that of one number. Of several, `backward()` cannot know how much each of them counts.",
        "make one number of it, with `.mean()` or `.sum()`, or pass weights: `backward(torch.ones_like(y))`",
    ),
    KnownError(
        r"(?i)only Tensors of floating point (?:and complex )?dtype can require gradients",
        "integer-dtype",
        "a tensor of integers cannot require a gradient",
        "asks integers for a gradient",
        "Only tensors of floating point or complex numbers have gradients: an integer cannot move a little.",
        "write the numbers as floats, `1.0` for `1`, or pass `dtype=torch.float32`",
    ),
    KnownError(
        r"a view of a leaf Variable that requires grad is being used in an in-place operation",
        "reassigned-variable",
        "this line overwrites entries of a leaf while its use is recorded",
        "changes a part of it in place",
        _LEAF,
        "change a copy: `y = x.clone()` first; an update of parameters belongs into `with torch.no_grad():`",
    ),
    KnownError(
        r"a leaf Variable that requires grad (?:is being|has been) used in an in-place operation",
        "reassigned-variable",
        "this line overwrites a leaf while its use is recorded",
        "changes it in place",
        _LEAF,
        "compute a new tensor, `y = x + ...`; an update of parameters belongs into `with torch.no_grad():`",
    ),
    KnownError(
        r"is a view and (?:is being|its base or another view of its base has been) modified inplace",
        "reassigned-variable",
        "this line changes a view in place that shares its memory with others",
        "changes it in place",
        "This tensor is one of several views of the same memory. Their graph cannot tell which of them is changed, so "
        "that PyTorch refuses.",
        "change a copy: put `.clone()` behind the view, or compute a new tensor",
    ),
    KnownError(
        r"Can't call numpy\(\) on Tensor that requires grad",
        "left-framework",
        "NumPy is given a tensor that requires a gradient",
        "leaves PyTorch here",
        "An array of NumPy knows nothing of what it was computed from: whatever is computed from it has no gradient. "
        "PyTorch wants that to be said.",
        "for a number to look at use `x.detach().numpy()`; for a loss use the function of the same name in "
        "`torch`",
    ),
    KnownError(
        r"can't retain_grad on Tensor that has requires_grad=False|cannot register a hook on a tensor that doesn't",
        "not-watched",
        "no gradient will ever come to this tensor, because it does not require one",
        "asks for a gradient that there will not be",
        "PyTorch keeps the graph only of what was computed from tensors with `requires_grad=True`; this one was not.",
        "make what it is computed from with `requires_grad=True`, or leave out `no_grad` and `detach` between them",
    ),
    KnownError(
        r"you can only change requires_grad flags of leaf variables",
        "reassigned-variable",
        "this tensor is computed from others, and cannot stop requiring a gradient by itself",
        "is no leaf",
        "Whether a computed tensor requires a gradient follows from what it was computed from.",
        "cut it off with `x = x.detach()`, or change the flag of the leaves it comes from",
    ),
    KnownError(
        r"can't optimize a non-leaf Tensor",
        "reassigned-variable",
        "the optimizer is given a tensor that is computed from the leaf, and is not one",
        "is no leaf",
        "PyTorch collects gradients in leaves. What is computed from one, be it by `.to()`, a product or a reshape, "
        "gets none, so that there would be nothing to step with.",
        "compute first and then call `requires_grad_()`, or wrap the result in `torch.nn.Parameter`",
    ),
    KnownError(
        r"Inference tensors cannot be saved for backward|Inplace update to inference tensor outside InferenceMode|"
        r"Setting requires_grad=True on inference tensor",
        "outside-tape",
        "a tensor made under `inference_mode` is used where a graph is kept",
        "needs it for its gradient",
        "A tensor made inside `torch.inference_mode()` can never take part in a graph, not even as a constant.",
        "make it under `torch.no_grad()`, or use `x.clone()` outside of `inference_mode`",
    ),
    KnownError(
        r"Mismatch in shape: grad_output\[\d+\] has a shape of",
        CRASH,
        "the weights of `backward` have another shape than the tensor",
        "asks with weights of another shape",
        "The argument of `backward` has one number for each entry of the tensor: how much it counts.",
        "pass weights like `torch.ones_like(y)`, or make one number of the tensor first",
    ),
    KnownError(
        r"Only Tensors created explicitly by the user .* support the deepcopy protocol",
        "reassigned-variable",
        "a tensor with a history cannot be copied with it",
        "copies a computed tensor",
        "A deep copy would have to copy the graph behind the tensor, too.",
        "copy the numbers: `x.detach().clone()`",
    ),
    KnownError(
        r"unscale_\(\) has already been called on this optimizer since the last update",
        "stale-accumulation",
        "the gradients are divided by the loss scale a second time",
        "unscales once more",
        "`unscale_` divides the gradients by the scale that the loss was multiplied with. Twice would be too often.",
        "call `scaler.unscale_(optimizer)` once for each `scaler.step(optimizer)`, and `scaler.update()` after it",
    ),
    KnownError(
        r"A view was created in (?:no_grad|inference) mode and is being modified inplace",
        "reassigned-variable",
        "this line changes a view in place that was taken where no graph is kept",
        "changes it in place",
        "The view was made under `no_grad`, and is changed where a graph is kept. PyTorch cannot tell whether the "
        "change is meant to have a gradient.",
        "take the view and change it both inside `torch.no_grad()`, or both outside",
    ),
    KnownError(
        r"Can't detach views in-place",
        "stop-gradient",
        "a view cannot be cut from its history in place",
        "cuts a view",
        "A view shares its memory and its history with the tensor it was taken from.",
        "use `x = x.detach()` instead of `x.detach_()`",
    ),
    KnownError(
        r"'(?:float|int|complex|numpy\.\w+)' object has no attribute '(?:backward|requires_grad_|retain_grad)'",
        "left-framework",
        "this is a plain number: it left PyTorch, and knows nothing of what it was computed from",
        "is no tensor",
        "`.item()`, `float()`, `.tolist()` and NumPy return plain numbers. What is summed up from them has no graph, "
        "so that there is nothing to differentiate.",
        "stay with tensors up to the loss: leave out `.item()`, and use functions of `torch` instead of NumPy's",
    ),
    KnownError(
        r"cannot assign 'torch\.\w+' as parameter '\w+'",
        "reassigned-variable",
        "a parameter cannot be replaced by a tensor that is computed from others",
        "is no parameter",
        "A parameter is a leaf, which gradients are collected in. What is computed has a history instead.",
        "overwrite its numbers, under `torch.no_grad()`: `p.copy_(new)`; to differentiate through the new tensor, use "
        "`torch.func.functional_call(model, {name: new}, inputs)`",
    ),
    KnownError(
        r"attempting to assign a gradient (?:of size|with dtype)",
        CRASH,
        "`.grad` is given a tensor that does not fit",
        "does not fit",
        "A gradient has one number for each entry of its tensor, in the same dtype.",
        "assign a tensor like `torch.zeros_like(x)`",
    ),
    KnownError(
        r"optimizer got an empty parameter list",
        "not-connected",
        "the optimizer is given no parameter at all",
        "finds none",
        "`model.parameters()` finds only what is a `Parameter` or a `Module` and an attribute of the model itself: "
        "layers in a plain list or dict are not seen, and get no step.",
        "put layers into `torch.nn.ModuleList` or `ModuleDict`, and tensors into `torch.nn.Parameter`",
    ),
    KnownError(
        r"Cowardly refusing to serialize non-leaf tensor",
        CRASH,
        "a tensor with a history cannot be sent to another process",
        "sends a computed tensor",
        "The graph behind a tensor lives in one process only.",
        "send the numbers: `x.detach()`",
    ),
)


def known_error(text: str, also: Sequence[KnownError] = ()) -> KnownError | None:
    """What is known of a message; None where it is not about gradients."""
    return next((one for one in (*_TENSOR_ERRORS, *RULE_ERRORS, *also) if re.search(one.pattern, text)), None)
