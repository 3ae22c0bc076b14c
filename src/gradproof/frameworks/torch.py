"""PyTorch."""

from gradproof.frameworks._framework import Framework

_SAME = (
    "exp", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "sigmoid", "square", "expm1", "log", "log1p", "erf", "erfc", "lgamma", "rsqrt", "hypot", "logaddexp",
    "sum", "mean", "prod", "logsumexp", "softmax", "log_softmax",
    "max", "min", "abs", "sign", "maximum", "minimum", "clip",
)  # fmt: skip

_SLOPES = '''\
def {name}(function):
    """A function of arrays with slopes by differences of fourth order, entry by entry, in float64."""

    class Smooth(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *xs):
            ctx.save_for_backward(*xs)
            return function(*xs)

        @staticmethod
        def backward(ctx, up):
            xs, found = ctx.saved_tensors, []
            for k, x in enumerate(xs):
                if not ctx.needs_input_grad[k]:
                    found.append(None)
                    continue
                h = 1e-3 * {scale}
                slope = torch.empty_like(x)
                for place in range(x.numel()):
                    e = torch.zeros_like(x)
                    e.view(-1)[place] = h.view(-1)[place]
                    at = lambda step: function(*xs[:k], x + step * e, *xs[k + 1 :])
                    slope.view(-1)[place] = (up * (8 * (at(1) - at(-1)) - at(2) + at(-2))).sum() / 12
                found.append(slope / h)
            return tuple(found)

    wide = lambda x: x.double().contiguous() if x.is_floating_point() else x
    return lambda *xs: Smooth.apply(*map(wide, xs)).to(xs[0].dtype)
'''

FRAMEWORK = Framework(
    name="torch",
    title="PyTorch",
    module="torch",
    alias="torch",
    distributions=("torch",),
    packages=("torch",),
    made_for=("2.13",),
    companions=("keras",),
    as_array="torch.as_tensor({x}, dtype=torch.{dtype})",
    spellings={
        **{name: f"torch.{name}" for name in _SAME},
        "softplus": "torch.nn.functional.softplus",
        "log_sigmoid": "torch.nn.functional.logsigmoid",
        "select": "torch.where",
        "log_abs_det": "torch.linalg.slogdet(A)[1]",
        "sinc": "torch.sinc(A / torch.pi)",
    },
    axis="dim",
    keepdims="keepdim",
    axis_needed=frozenset({"softmax", "log_softmax", "logsumexp"}),
    constant="as_tensor",
    one_hot="torch.nn.functional.one_hot({labels}, {n})",
    places="torch.arange({n}.0)",
    rule_is_passed_kept=True,
    rule_class="autograd.Function",
    compilers=("torch.compile", "torch.jit.script"),
    stack="torch.stack",
    truncated="torch.trunc({x})",
    at_least="torch.clamp({x}, min={bound})",
    at_most="torch.clamp({x}, max={bound})",
    detached="{x}.detach()",
    slopes_helper=_SLOPES,
    slope_scales=("x.abs().clamp(min=1.0)", "torch.where(x == 0.0, 1.0, x.abs())"),
    adds_gradients=True,
    leaf_keyword="requires_grad",
    leaf_made="{x}.requires_grad_()",
    retained="{x}.retain_grad()",
    without_graph="with torch.no_grad()",
    cast="{x}.to(torch.{dtype})",
    package="torch",
    wide_default="torch.set_default_dtype(torch.float64)",
    checker="autograd.gradcheck",
    loss_scaling="torch.amp.GradScaler",
    stop_gradient="detach()",
    random="torch.randn",
    variable="{name} = {name}.requires_grad_()",
)
