"""Messages of PyTorch's about rules of the user's, and about those who run them: transforms, checkpoints, scalers."""

from __future__ import annotations

from gradproof.diagnosis.diagnostic import CRASH
from gradproof.frontends.torch.known_error import KnownError

_ONE_NUMBER = "A gradient is that of one number. Of several, it is not known how much each of them counts."
_STATIC = (
    "write `forward(ctx, x)` and `backward(ctx, g)` as static methods, keep what `backward` needs in `ctx`, and call "
    "the function with `.apply(x)`"
)
_FUNCTIONS = (
    KnownError(
        r"Legacy autograd function with non-static forward method",
        "custom-gradient",
        "this `autograd.Function` is written in the old style, which PyTorch runs no more",
        "is called here",
        "Functions used to be objects with state of their own. Now `forward` and `backward` are static, and a context "
        "carries numbers from one to the other.",
        _STATIC,
    ),
    KnownError(
        r"it must override the setup_context staticmethod",
        "no-gradient-registered",
        "`torch.func` cannot differentiate this `autograd.Function`: it has no `setup_context`",
        "has no `setup_context`",
        "The transforms of `torch.func` run `forward` by themselves, and need what it keeps for `backward` apart from "
        "it.",
        "write `forward(x)` without `ctx`, and a static method `setup_context(ctx, inputs, output)` that keeps what "
        "`backward` needs",
    ),
    KnownError(
        r"You tried to vmap over \w+, but it does not have vmap support",
        "no-gradient-registered",
        "`vmap` cannot run this `autograd.Function`: it does not say how it runs on a batch",
        "has no rule for a batch",
        "To PyTorch a hand-written function is closed: it cannot put a further axis through it by itself.",
        "set `generate_vmap_rule = True` in the class if it consists of PyTorch's ops, or write its `vmap`",
    ),
    KnownError(
        r"You must implement the jvp function for custom autograd\.Function",
        "no-gradient-registered",
        "forward mode cannot differentiate this `autograd.Function`: it has no `jvp`",
        "has no `jvp`",
        "`backward` says what goes back through the function. Forward mode asks what goes forward.",
        "write a static method `jvp(ctx, *tangents)`, or use reverse mode: `vjp`, `jacrev`, `backward()`",
    ),
    KnownError(
        r"You must implement either the backward or vjp method",
        "no-gradient-registered",
        "this `autograd.Function` has no `backward`",
        "has no `backward`",
        "PyTorch does not look into a function that is written by hand, and this one does not say how it is "
        "differentiated.",
        "write its `backward`, or an ordinary Python function, which PyTorch differentiates by itself",
    ),
    KnownError(
        r"save_for_backward can only save variables",
        "custom-gradient",
        "`save_for_backward` is given something that is no tensor",
        "keeps what is no tensor",
        "`save_for_backward` watches over tensors, so that a change in place is noticed.",
        "keep other values as attributes: `ctx.scale = scale`",
    ),
    KnownError(
        r"Some elements marked as dirty during the forward method were not returned",
        "custom-gradient",
        "`mark_dirty` names a tensor that the function does not return",
        "is called here",
        "What a function changes in place has to be its result: only so can PyTorch give it the history of the change.",
        "return the tensor that is changed, or change a copy",
    ),
    KnownError(
        r"expected Variable or None \(got ",
        "custom-gradient",
        "PyTorch refuses what this hand-written gradient returns: it is no tensor",
        "what it returns is no tensor",
        "A rule returns a tensor for every argument, or None for those without a gradient.",
        "return tensors: compute with `torch`, or put `torch.from_numpy` around what NumPy gives",
    ),
    KnownError(
        r"hook '.*' has changed the (?:size|type) of value|expected Variable, but hook returned",
        "custom-gradient",
        "a hook gives back something that is no gradient of its tensor",
        "the gradient ends at a hook",
        "What a hook returns takes the place of the gradient it was given, and has to be a tensor of the same shape "
        "and dtype. Without a `return` the gradient stays as it is.",
        "return a tensor like the one that was given, or nothing at all",
    ),
)
_TRANSFORMS = (
    KnownError(
        r"Expected f\(\*args\) to return a scalar|given to hessian should contain a single element|"
        r"The vector v can only be None if the user-provided function returns a single Tensor",
        CRASH,
        "one number is differentiated here, and this function returns several",
        "differentiates more than one entry",
        _ONE_NUMBER,
        "make one number of it, with `.mean()` or `.sum()`; or ask for all of them with `jacrev` or `jacobian`",
    ),
    KnownError(
        r"Expected f\(\*args\) to return a Tensor, got|outputs of the user-provided function given to \w+ must be",
        "left-framework",
        "the function returns something that is no tensor, and there is nothing to differentiate",
        "is given no tensor",
        "`.item()`, `float()` and NumPy return plain numbers, which know nothing of what they were computed from.",
        "return a tensor: leave out `.item()` and `float()`, and use functions of `torch` instead of NumPy's",
    ),
    KnownError(
        r"Cannot access data pointer of Tensor that doesn't have storage",
        "left-framework",
        "the numbers of a tensor are wanted inside of a transform, which has none for it",
        "leaves PyTorch here",
        "Inside of `grad`, `vmap` and `jacrev` tensors stand for others. `.numpy()` and code in C want plain numbers.",
        "use functions of `torch`, or write the step as an `autograd.Function` with a `vmap` of its own",
    ),
    KnownError(
        r"(?:backward|Tensor\.requires_grad_)\(\).* inside (?:of )?a (?:functorch|function)",
        CRASH,
        "`torch.func` differentiates this function, which differentiates by itself",
        "is called inside of a transform",
        "Inside of `grad`, `vmap` and `jacrev` no leaves collect gradients.",
        "call `torch.func.grad` inside, or `backward()` outside",
    ),
    KnownError(
        r"vmap: It looks like you're either \(1\) calling \.item\(\)",
        CRASH,
        "a decision is made, or a number read, where `vmap` computes many examples at once",
        "wants one number",
        "`if` and `.item()` want one number, and inside of `vmap` there is one for each example.",
        "decide entry by entry with `torch.where`, or keep the number as a tensor",
    ),
    KnownError(
        r"vmap: called random operation while in randomness error mode",
        CRASH,
        "random numbers are drawn inside of `vmap`, which is not told whether examples share them",
        "draws random numbers",
        "Every example may have numbers of its own, or all the same. `vmap` does not guess.",
        'pass `randomness="different"` or `randomness="same"` to `vmap`',
    ),
    KnownError(
        r"vmap: inplace arithmetic",
        "reassigned-variable",
        "a tensor without the axis of the examples is changed in place to numbers of one",
        "changes it in place",
        "Inside of `vmap` this tensor is one for all examples, and what is written into it is different for each.",
        "compute a new tensor, for example with `torch.stack`; or make it with `torch.zeros_like` of an argument",
    ),
    KnownError(
        r"Output \d+ of the user-provided function (?:does not require gradients|is independent)",
        "not-connected",
        "the function does not depend on its argument, and `strict` says that it has to",
        "is asked with `strict=True`",
        "No op that ran leads from the argument to the result.",
        "use the argument in the function, or leave out `strict=True`, which gives zeros",
    ),
    KnownError(
        r"gradcheck expects at least one input tensor to require gradient",
        "not-watched",
        "`gradcheck` is given no tensor that requires a gradient",
        "finds none",
        "It compares the gradients of those tensors that have `requires_grad=True`.",
        "make the inputs with `requires_grad=True`, in `dtype=torch.float64`",
    ),
)
_TRAINING = (
    KnownError(
        r"When use_reentrant=True, torch\.utils\.checkpoint is incompatible|"
        r"Checkpointing is not compatible with \.grad\(\)",
        "no-gradient-registered",
        "a reentrant checkpoint cannot be asked by `autograd.grad`, or for single tensors",
        "is made of a reentrant checkpoint",
        "With `use_reentrant=True` the checkpoint calls `backward()` inside of itself, which puts gradients into all "
        "leaves.",
        "pass `use_reentrant=False` to `checkpoint`",
    ),
    KnownError(
        r"torch\.utils\.checkpoint: (?:Recomputed values|A different number of tensors)",
        "custom-gradient",
        "a checkpoint computes something else the second time",
        "is computed again here",
        "What is checkpointed is computed once more in the backward pass, and has to do the same: it must not depend "
        "on a counter, on a global mode or on tensors that have changed since.",
        "compute what changes outside of the checkpoint, and pass it as an argument",
    ),
    KnownError(
        r"No inf checks were recorded for this optimizer",
        "not-connected",
        "the scaler finds no gradient in any parameter of this optimizer",
        "has nothing to unscale",
        "`scaler.step` divides the gradients by the scale first. All of them are None: nothing was differentiated, or "
        "the loss does not depend on these parameters.",
        "call `scaler.scale(loss).backward()` before, with a loss that is computed from these parameters",
    ),
    KnownError(
        r"Attempting to unscale FP16 gradients",
        CRASH,
        "the parameters are float16, and a scaler unscales float32 only",
        "unscales float16",
        "Unscaled, gradients are small again: float16 would lose what the scale has saved.",
        "keep the parameters in float32, without `.half()`, and compute under `torch.autocast`",
    ),
    KnownError(
        r"Expected to have finished reduction in the prior iteration",
        "not-connected",
        "parameters of this model took no part in the loss of the step before",
        "waits for their gradients",
        "`DistributedDataParallel` averages the gradient of every parameter over all processes, and waits for those "
        "that never come.",
        "use all outputs of the model in the loss, freeze the parameters that take no part, or pass "
        "`find_unused_parameters=True`",
    ),
    KnownError(
        r"Expected to mark a variable ready only once",
        CRASH,
        "a parameter gets its gradient twice in one step, and `DistributedDataParallel` averages it once",
        "comes a second time",
        "It is used in two reentrant checkpoints, or outside of the model's `forward` too.",
        "pass `use_reentrant=False` to `checkpoint`, or `static_graph=True` to `DistributedDataParallel`",
    ),
)
RULE_ERRORS = (*_FUNCTIONS, *_TRANSFORMS, *_TRAINING)
