"""TensorFlow 2, with Keras."""

from gradproof.frameworks._framework import Framework

_TOP = (
    "exp", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "sigmoid", "square",
)  # fmt: skip
_MATH = ("expm1", "log", "log1p", "log_sigmoid", "erf", "erfc", "lgamma", "rsqrt")

_SLOPES = '''\
def {name}(function):
    """A function of arrays with slopes by differences of fourth order, entry by entry, in float64."""

    @tf.custom_gradient
    def smooth(*xs):
        xs = [tf.cast(x, tf.float64) for x in xs]

        def slope(up, k, e):
            at = lambda step: function(*xs[:k], xs[k] + step * e, *xs[k + 1 :])
            return tf.reduce_sum(up * (8.0 * (at(1.0) - at(-1.0)) - at(2.0) + at(-2.0))) / 12.0

        def slopes(up):
            found = []
            for k, x in enumerate(xs):
                h = 1e-3 * {scale}
                each = [tf.reshape(e, x.shape) for e in tf.unstack(tf.eye(tf.size(x), dtype=x.dtype))]
                found.append(tf.reshape(tf.stack([slope(up, k, h * e) for e in each]), x.shape) / h)
            return found

        return function(*xs), slopes

    def narrow(*xs):
        dtype = tf.convert_to_tensor(xs[0]).dtype
        return tf.cast(smooth(*(tf.cast(x, tf.float64) for x in xs)), dtype)

    return narrow
'''

FRAMEWORK = Framework(
    name="tensorflow",
    title="TensorFlow",
    module="tensorflow",
    alias="tf",
    distributions=("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos", "tf-nightly"),
    packages=("tensorflow", "keras"),
    made_for=("2.18", "2.19", "2.20", "2.21"),
    companions=("keras",),
    as_array="tf.convert_to_tensor({x}, tf.{dtype})",
    spellings={
        **{name: f"tf.{name}" for name in _TOP},
        **{name: f"tf.math.{name}" for name in _MATH},
        "softplus": "tf.nn.softplus",
        "select": "tf.where",
        "sum": "tf.reduce_sum",
        "mean": "tf.reduce_mean",
        "prod": "tf.reduce_prod",
        "max": "tf.reduce_max",
        "min": "tf.reduce_min",
        "abs": "tf.abs",
        "maximum": "tf.maximum",
        "minimum": "tf.minimum",
        "clip": "tf.clip_by_value",
        "logsumexp": "tf.reduce_logsumexp",
        "softmax": "tf.nn.softmax",
        "log_softmax": "tf.nn.log_softmax",
        "log_abs_det": "tf.linalg.slogdet(A)[1]",
    },
    constant="constant",
    chooses_along_first=True,
    one_hot="tf.one_hot({labels}, {n}{axis})",
    places="tf.range({n}.0)",
    rule_decorators=("custom_gradient",),
    compilers=("tf.function", "tensorflow.function"),
    stack="tf.stack",
    truncated="tf.sign({x}) * tf.floor(tf.abs({x}))",
    at_least="tf.maximum({x}, {bound})",
    at_most="tf.minimum({x}, {bound})",
    detached="tf.stop_gradient({x})",
    slopes_helper=_SLOPES,
    slope_scales=("tf.maximum(tf.abs(x), 1.0)", "tf.where(x == 0.0, 1.0, tf.abs(x))"),
    cast="tf.cast({x}, tf.{dtype})",
    checker="test.compute_gradient",
    loss_scaling="tf.keras.mixed_precision.LossScaleOptimizer",
    stop_gradient="tf.stop_gradient",
    random="tf.random",
    changeable=", or make it a variable and change it with `assign`",
    variable="{name} = tf.Variable({name})",
    signs_of_none=(
        "None values not supported",
        "No gradients provided",
        "to have a length equal to the number of `trainable_variables`",
        "there is no gradient",
    ),
)
