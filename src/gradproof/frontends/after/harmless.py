"""Functions and values of libraries that are known to change nothing outside themselves.

These are lists of what is allowed. What is not named here counts as having effects: a wrong entry would run
somebody's effects twice, a missing one only costs a look.
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BUILTINS = frozenset(
    getattr(builtins, name)
    for name in _words("""
        abs all any bool complex dict divmod enumerate float frozenset int isinstance issubclass len list max min pow
        range repr reversed round set slice sorted str sum tuple type zip map filter print
    """)
)
"""`print` is among them because the streams of Python are put aside while something runs again."""

METHODS = _words("""
    numpy item tolist astype sum mean prod std var min max argmin argmax reshape ravel flatten transpose conj
    dot copy any all cumsum cumprod round clip squeeze repeat trace diagonal swapaxes nonzero get_shape as_list
    value read_value format join split strip upper lower startswith endswith replace items keys values get index
    count detach cpu contiguous clone new_tensor type_as unsqueeze view size dim numel
""")
"""Methods of numbers, arrays, tensors, text and containers that leave the object as it is."""

TAPE_METHODS = _words("""
    gradient jacobian batch_jacobian jvp watch watched_variables stop_recording
""")
CONTAINER_METHODS = _words("append extend insert add update setdefault pop")

_CONTEXTS = frozenset({"GradientTape", "ForwardAccumulator", "name_scope", "name_scope_v2"})
_VALUES = frozenset(
    {"DType", "TensorShape", "GradientTape", "ForwardAccumulator", "UnconnectedGradients", "dtype"}
)
_LIBRARIES = frozenset({"numpy", "tensorflow", "keras", "jax", "jaxlib", "torch", "ml_dtypes"})
_PLAIN = (
    int,
    float,
    complex,
    str,
    bytes,
    bool,
    type(None),
    type(Ellipsis),
    slice,
    range,
    np.ndarray,
    np.generic,
)
_LARGEST = 1000  # entries of a container that are looked at one by one

# Modules of TensorFlow below `tensorflow.python` whose functions build ops without state.
_TENSORFLOW = _words("""
    ops.math_ops ops.gen_math_ops ops.array_ops ops.gen_array_ops ops.array_ops_stack ops.nn_ops ops.gen_nn_ops
    ops.nn_impl ops.nn_impl_distribute ops.linalg_ops ops.gen_linalg_ops ops.special_math_ops
    ops.gen_special_math_ops ops.clip_ops ops.sort_ops ops.sparse_ops ops.gen_sparse_ops ops.embedding_ops
    ops.manip_ops ops.gen_manip_ops ops.bitwise_ops ops.gen_bitwise_ops ops.image_ops_impl ops.gen_image_ops
    ops.custom_gradient ops.gradients_impl ops.cond ops.while_loop ops.control_flow_case
    ops.control_flow_switch_case ops.control_flow_assert ops.map_fn ops.functional_ops ops.check_ops
    ops.stateless_random_ops ops.confusion_matrix ops.histogram_ops ops.weak_tensor_ops ops.ctc_ops
    ops.string_ops ops.gen_string_ops ops.tensor_getitem_override ops.gradient_checker_v2 framework.constant_op
    framework.tensor_conversion framework.tensor_util framework.dtypes
    eager.polymorphic_function.polymorphic_function
""")
_TENSORFLOW_FOLDERS = ("ops.linalg.", "ops.signal.", "ops.ragged.", "ops.numpy_ops.", "ops.parallel_for.")
_KERAS_FOLDERS = ("keras.src.ops.", "keras.src.activations.", "keras.src.losses.losses")
# Among them: what draws from a state, and raw ops that write into their input.
_TENSORFLOW_EXCEPT = re.compile(r"(?i)random_|.*dropout|inplace|_inplace")

# Modules of JAX whose functions compute with what they are given, and what else of `jax` does.
_JAX = (
    "jax.numpy", "jax.lax", "jax.nn", "jax.scipy", "jax.random", "jax._src.numpy.", "jax._src.lax.", "jax._src.nn.",
    "jax._src.scipy.", "jax._src.random.", "jax._src.ops.", "jax._src.custom_derivatives",
)  # fmt: skip
_JAX_ITSELF = _words("grad value_and_grad vjp jvp jacfwd jacrev hessian linearize vmap checkpoint tree_map")

# Built-in functions of PyTorch that compute with what they are given, and modules of SciPy all of whose functions do.
_TORCH = _words("""
    from_numpy tensor as_tensor zeros ones full zeros_like ones_like empty_like stack cat where exp log sin cos tanh
    sigmoid sqrt abs sum mean maximum minimum matmul
""")
_SCIPY = (
    "scipy.special",
    "scipy.signal",
    "scipy.ndimage",
    "scipy.linalg",
    "scipy.fft",
    "scipy.spatial.distance",
)

# Functions of NumPy that write: into their argument, a file, or a setting of the process.
_NUMPY_EXCEPT = _words("""
    save savez savez_compressed savetxt put copyto place putmask fill_diagonal put_along_axis seterr seterrcall
    setbufsize set_printoptions set_string_function memmap fromfile load loadtxt genfromtxt shuffle printoptions
    errstate
""")


def is_harmless(function: Any) -> bool:
    """Whether a function of a library, called with harmless arguments, is known to change nothing."""
    try:
        if function in BUILTINS:
            return True
    except TypeError:  # something that cannot be hashed is no builtin
        return False
    if isinstance(function, type):
        return issubclass(function, np.generic | BaseException) or function.__name__ in _CONTEXTS & _library(
            function
        )
    if isinstance(function, np.ufunc):
        return True
    module, name = str(getattr(function, "__module__", None) or ""), str(getattr(function, "__name__", ""))
    if isinstance(function, BuiltinFunctionType) and module in (math.__name__, "cmath"):
        return True
    if isinstance(function, BuiltinFunctionType) and module == "torch":
        return name in _TORCH
    if module.startswith(_SCIPY):
        return True
    if module.split(".")[0] == "numpy":
        return name not in _NUMPY_EXCEPT and not module.startswith(
            ("numpy.random", "numpy.ctypeslib", "numpy.testing")
        )
    if module.startswith("jax"):
        return module.startswith(_JAX) or name in _JAX_ITSELF
    if not isinstance(function, FunctionType):
        return False
    if module.startswith("tensorflow.python."):
        inner = module.removeprefix("tensorflow.python.")
        known = inner in _TENSORFLOW or inner.startswith(_TENSORFLOW_FOLDERS)
        return known and "np_random" not in inner and not _TENSORFLOW_EXCEPT.match(name)
    return module.startswith(_KERAS_FOLDERS)


def _library(thing: type) -> frozenset[str]:
    """The name of a class if it is a library's."""
    return frozenset({thing.__name__}) if _is_librarys(thing) else frozenset()


def _is_librarys(kind: type) -> bool:
    return str(kind.__module__).split(".")[0] in _LIBRARIES


def is_plain(value: Any) -> bool:
    """Whether reading a value and computing with it runs no code but that of Python and the libraries."""
    kind = type(value)
    if isinstance(value, ModuleType | type | FunctionType | BuiltinFunctionType) or kind in _PLAIN:
        return True
    if kind in (list, tuple, set, frozenset, dict):
        items = [*value.keys(), *value.values()] if isinstance(value, Mapping) else list(value)
        return len(items) <= _LARGEST and not any(map(callable, items)) and all(map(is_plain, items))
    if isinstance(value, np.ndarray | np.generic | np.ufunc):
        return _is_librarys(kind)
    is_array = hasattr(value, "dtype") and hasattr(value, "shape")
    return _is_librarys(kind) and (is_array or kind.__name__ in _VALUES)


def is_foreign_class(value: Any) -> bool:
    """A class that is neither Python's nor a library's: making an object of it runs its code."""
    return isinstance(value, type) and value.__module__ != "builtins" and not _is_librarys(value)


def is_tape(value: Any) -> bool:
    return type(value).__name__ in _CONTEXTS and _is_librarys(type(value))
