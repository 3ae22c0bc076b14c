"""JAX."""

from gradproof.frameworks._framework import Framework

_SAME = (
    "exp", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "square", "expm1", "log", "log1p", "hypot", "cbrt",
    "logaddexp", "sum", "mean", "prod",
    "max", "min", "abs", "sign", "maximum", "minimum", "clip",
)  # fmt: skip

_SLOPES = '''\
def {name}(function):
    """A function of arrays with slopes by differences of fourth order, entry by entry."""
    smooth = jax.custom_vjp(function)

    def backward(xs, up):
        def slope(k, e):
            at = lambda step: function(*xs[:k], xs[k] + step * e, *xs[k + 1 :])
            return jnp.sum(up * (8.0 * (at(1.0) - at(-1.0)) - at(2.0) + at(-2.0))) / 12.0

        found = []
        for k, x in enumerate(xs):
            h = 0.02 * {scale}
            each = [e.reshape(x.shape) for e in jnp.eye(x.size, dtype=x.dtype)]
            found.append(jnp.stack([slope(k, h * e) for e in each]).reshape(x.shape) / h)
        return tuple(found)

    smooth.defvjp(lambda *xs: (function(*xs), xs), backward)
    return lambda *xs: smooth(*map(jnp.asarray, xs))
'''

FRAMEWORK = Framework(
    name="jax",
    title="JAX",
    module="jax.numpy",
    alias="jnp",
    distributions=("jax",),
    packages=("jax", "jaxlib"),
    unseen_before=(
        "what JAX compiled before gradproof watched runs without being seen; `jax.clear_caches()` has it traced again"
    ),
    made_for=("0.10.2",),
    companions=("keras",),
    is_read_by_numpy=False,
    spellings={
        **{name: f"jnp.{name}" for name in _SAME},
        "asin": "jnp.arcsin",
        "acos": "jnp.arccos",
        "atan": "jnp.arctan",
        "atan2": "jnp.arctan2",
        "asinh": "jnp.arcsinh",
        "acosh": "jnp.arccosh",
        "atanh": "jnp.arctanh",
        "softplus": "jnp.logaddexp(0.0, A)",
        "log_sigmoid": "-jnp.logaddexp(0.0, -A)",
        "sigmoid": "jax.nn.sigmoid",
        "softmax": "jax.nn.softmax",
        "log_softmax": "jax.nn.log_softmax",
        "logsumexp": "jax.nn.logsumexp",
        "erf": "jax.scipy.special.erf",
        "erfc": "jax.scipy.special.erfc",
        "lgamma": "jax.scipy.special.gammaln",
        "rsqrt": "1 / jnp.sqrt(A)",
        "select": "jnp.where",
        "log_abs_det": "jnp.linalg.slogdet(A)[1]",
        "sinc": "jnp.sinc(A / jnp.pi)",
    },
    rule_is_passed_kept=True,
    rule_decorators=("custom_vjp", "custom_jvp"),
    compilers=("jax.jit", "jit"),
    stack="jnp.stack",
    truncated="jnp.trunc({x})",
    at_least="jnp.maximum({x}, {bound})",
    at_most="jnp.minimum({x}, {bound})",
    detached="jax.lax.stop_gradient({x})",
    slopes_helper=_SLOPES,
    slope_scales=("jnp.maximum(jnp.abs(x), 1.0)", "jnp.where(x == 0.0, 1.0, jnp.abs(x))"),
    one_hot="jax.nn.one_hot({labels}, {n}{axis})",
    places="jnp.arange({n}.0)",
    cast="{x}.astype(jnp.{dtype})",
    package="jax",
    wide_setting='jax.config.update("jax_enable_x64", True)',
    wide_default='jax.config.update("jax_enable_x64", True)',
    checker="test_util.check_grads",
    stop_gradient="jax.lax.stop_gradient",
    random="jax.random",
    returns_zeros=True,
    for_integers="float0",
)
