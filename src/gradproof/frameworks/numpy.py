"""NumPy, as gradproof's own tape follows it."""

from gradproof.frameworks._framework import Framework

_SAME = (
    "exp", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "square", "expm1", "log", "log1p", "hypot", "cbrt",
    "logaddexp", "sum", "mean", "prod",
    "max", "min", "abs", "sign", "maximum", "minimum", "clip",
)  # fmt: skip

FRAMEWORK = Framework(
    name="numpy",
    title="NumPy",
    module="numpy",
    alias="np",
    distributions=("numpy",),
    packages=("numpy",),
    spellings={
        **{name: f"np.{name}" for name in _SAME},
        "asin": "np.arcsin",
        "acos": "np.arccos",
        "atan": "np.arctan",
        "atan2": "np.arctan2",
        "asinh": "np.arcsinh",
        "acosh": "np.arccosh",
        "atanh": "np.arctanh",
        "softplus": "np.logaddexp(0, A)",
        "select": "np.where",
        "logsumexp": "np.logaddexp.reduce",
        "softmax": "np.exp(A - np.logaddexp.reduce(A, axis=AXIS, keepdims=True))",
        "log_softmax": "A - np.logaddexp.reduce(A, axis=AXIS, keepdims=True)",
        "rsqrt": "1 / np.sqrt(A)",
        "log_sigmoid": "-np.logaddexp(0, -A)",
        "log_abs_det": "np.linalg.slogdet(A)[1]",
        "sinc": "np.sinc(A / np.pi)",
    },
    # Reductions of NumPy's binary functions go along the first axis unless they are told otherwise.
    axis_needed=frozenset({"logsumexp"}),
    cast="{x}.astype(np.{dtype})",
    stack="np.stack",
    truncated="np.trunc({x})",
    at_least="np.maximum({x}, {bound})",
    at_most="np.minimum({x}, {bound})",
    detached="gradproof.stop_gradient({x})",
    checker="",
    stop_gradient="gradproof.stop_gradient",
    random="np.random",
    variable="{name} = gradproof.Variable({name})",
    returns_none=False,
    signs_of_none=("there is no gradient",),
)
