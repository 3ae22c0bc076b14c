"""Calls that JAX refuses because of how they are made: what it says, what that means, how it is asked rightly."""

from __future__ import annotations

from dataclasses import dataclass

from gradproof.diagnosis.diagnostic import CRASH


@dataclass(frozen=True)
class ExplainedError:
    """One kind of exception: how it is told, and what mends it."""

    kind: str
    headline: str
    label: str
    why: str
    fix: str


NO_ARGUMENT = "differentiating with respect to "
NO_TANGENTS = "primal and tangent arguments to jax.jvp"
_ONE_NUMBER = "A gradient is that of one number, the loss."
_AUX = "With `has_aux=True` a function returns a pair: the loss, and one thing more, which may be a tuple or a dict."
_WEIGHTS = (
    "What `jax.vjp` returns is called with weights for the result: as many numbers, of the same dtype, in the same "
    "structure as the function returned."
)
_TANGENTS = (
    "`jax.jvp(f, primals, tangents)` takes a tuple of arguments and a tuple of directions: one for each, of the same "
    "shape and dtype."
)
_DISCRETE = ExplainedError(
    "discrete-op",
    "the function returns integers, which have no gradient",
    "makes an integer of it",
    "What is counted, chosen or compared does not change when the inputs change a little: it has no slope to return.",
    "differentiate something smooth: a loss made of probabilities instead of `argmax` or of a count",
)
# By what JAX says; the most special first.
MISUSES: tuple[tuple[str, ExplainedError], ...] = (
    (
        "Gradient only defined for scalar-output functions. Output was None",
        ExplainedError(
            CRASH,
            "the function that is differentiated returns nothing",
            "differentiates a function that returns None",
            f"{_ONE_NUMBER} This function ends without `return`.",
            "return the loss at its end",
        ),
    ),
    (
        "Gradient only defined for scalar-output functions. Output was (",
        ExplainedError(
            CRASH,
            "the function that is differentiated returns more than its loss",
            "gets a tuple where it needs one number",
            f"{_ONE_NUMBER} {_AUX}",
            "a loss that returns more than its value is differentiated with `has_aux=True`",
        ),
    ),
    (
        "Gradient only defined for scalar-output functions",
        ExplainedError(
            CRASH,
            "`grad` needs one number, and this function returns several",
            "gets more than one number",
            f"{_ONE_NUMBER} Of several, JAX cannot know how much each of them counts.",
            "take the sum or the mean of what it returns, or `jax.jacrev` for the derivative of every entry",
        ),
    ),
    *(
        (
            f"requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got {kind}",
            _DISCRETE,
        )
        for kind in ("int", "uint", "bool")
    ),
    (
        "requires real-valued outputs",
        ExplainedError(
            CRASH,
            "the function returns a complex number, and a gradient is that of a real one",
            "gets a complex number",
            "A complex number cannot be the smallest: what is to be minimised is real.",
            "take the real part or the absolute value, or pass `holomorphic=True`",
        ),
    ),
    (
        NO_ARGUMENT,
        ExplainedError(
            CRASH,
            "there is no argument of the number that `argnums` names",
            "is called with fewer arguments",
            "JAX differentiates for arguments by their place in the call.",
            "`argnums` counts the arguments from 0, and those passed by name do not count",
        ),
    ),
    (
        "expected function with aux output",
        ExplainedError(
            CRASH,
            "`has_aux=True` expects a pair, and this function returns something else",
            "gets no pair of a loss and something more",
            _AUX,
            "leave out `has_aux=True`, or return `(loss, more)`",
        ),
    ),
    (
        "is not a valid JAX type",
        ExplainedError(
            CRASH,
            "what is differentiated for holds something that is no array",
            "is given it",
            "Every leaf of the argument gets a gradient, so that each has to be an array or a number: no text, no "
            "function, no object.",
            "keep settings out of the parameters, or name the argument in `static_argnums`",
        ),
    ),
    (
        "for argument to VJP function",
        ExplainedError(
            CRASH,
            "the pullback is given weights of another shape or dtype than the result",
            "asks with other weights",
            _WEIGHTS,
            "pass `jnp.ones_like(y)`, with `y` as `jax.vjp` returned it",
        ),
    ),
    (
        "But the tree structures differ",
        ExplainedError(
            CRASH,
            "the pullback is given weights in another structure than the result",
            "asks with other weights",
            _WEIGHTS,
            "pass weights like the result: `jax.tree.map(jnp.ones_like, y)`, with `y` as `jax.vjp` returned it",
        ),
    ),
    (
        f"{NO_TANGENTS} do not match",
        ExplainedError(
            CRASH,
            "a direction of `jvp` has another dtype than its argument",
            "asks with another dtype",
            _TANGENTS,
            "pass both in the same floating point dtype",
        ),
    ),
    (
        NO_TANGENTS,
        ExplainedError(
            CRASH,
            "`jvp` takes arguments and directions as tuples",
            "passes something else",
            _TANGENTS,
            "write `jax.jvp(f, (x,), (v,))`",
        ),
    ),
    (
        "jvp called with different primal and tangent shapes",
        ExplainedError(
            CRASH,
            "a direction of `jvp` has another shape than its argument",
            "asks with another shape",
            _TANGENTS,
            "pass a direction of the argument's shape, as `jnp.ones_like(x)` has it",
        ),
    ),
    (
        "vmap got inconsistent sizes for array axes to be mapped",
        ExplainedError(
            CRASH,
            "`vmap` is to take its arguments apart, and they are not equally long",
            "takes them apart",
            "By default `vmap` takes every argument apart along its first axis, and calls the function with one entry "
            "of each: parameters are cut up, too, unless they are excepted.",
            "give `None` in `in_axes` for what all examples share, as in `in_axes=(None, 0, 0)`",
        ),
    ),
    (
        "float0",
        ExplainedError(
            CRASH,
            "the gradient of an integer is an array of dtype float0, which holds no numbers",
            "computes with it",
            "`allow_int=True` lets a function be differentiated for integers, and what comes back for them is a place "
            "that is kept empty.",
            "keep integers out of what is differentiated and updated: pass them as another argument",
        ),
    ),
    (
        "Non-hashable static arguments are not supported",
        ExplainedError(
            CRASH,
            "a static argument has to be hashable, and a list, a dict or an array is not",
            "is called with it",
            "`jit` keeps one compiled function for every value of its static arguments, and looks it up by their hash.",
            "pass a tuple, or leave the argument out of `static_argnums`",
        ),
    ),
    (
        "Expected a callable value, got",
        ExplainedError(
            CRASH,
            "a function is to be passed here, and its value is",
            "is given a value",
            "`jax.grad` makes a new function of a function: `jax.grad(loss)(w)` and not `jax.grad(loss(w))`.",
            "pass the function itself, and call what comes back",
        ),
    ),
    (
        "Custom VJP bwd rule must produce an output with the same container",
        ExplainedError(
            CRASH,
            "the backward rule of a `custom_vjp` does not return one gradient for each argument",
            "is differentiated by that rule",
            "A backward rule returns a tuple with as many entries as the function has arguments, not counting those of "
            "`nondiff_argnums`: a tuple for a single argument, too.",
            "return a tuple, as `return (g * slope,)`, with `None` for an argument that needs no gradient",
        ),
    ),
    (
        "Custom VJP bwd rule must produce an output with the same",
        ExplainedError(
            CRASH,
            "the backward rule of a `custom_vjp` returns a gradient of another shape or dtype than its argument has",
            "is differentiated by that rule",
            "The gradient for an argument has an entry for each of its entries. What was broadcast in the function is "
            "to be summed over the same axes in the rule.",
            "sum it over the axes that were broadcast, and give it the argument's dtype with `astype`",
        ),
    ),
    (
        "Custom VJP fwd rule",
        ExplainedError(
            CRASH,
            "the forward rule of a `custom_vjp` does not return what it has to",
            "is differentiated by that rule",
            "A forward rule returns a pair: what the function returns, and whatever the backward rule needs.",
            "return `f(x), x`, or `f(x), None` where nothing is to be kept",
        ),
    ),
    (
        "Custom JVP rule",
        ExplainedError(
            CRASH,
            "the rule of a `custom_jvp` does not return what it has to",
            "is differentiated by that rule",
            "The rule returns a pair: what the function returns, and how it moves along the tangents, which has the "
            "same structure, shape and dtype.",
            "return `f(x), slope * t`, with `x, = primals` and `t, = tangents`",
        ),
    ),
)
