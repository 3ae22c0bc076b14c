"""Which frontend serves a program or an argument; the only file that names the frontends."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gradproof.errors import InvalidInput
from gradproof.fixes.verify import rounded_gradient
from gradproof.frontends.attachment import Attachment, Policy, Receiver
from gradproof.frontends.request import Checked, Request
from gradproof.frontends.tensorflow.attach import attach as attach_tensorflow
from gradproof.ir.program import Program
from gradproof.tape.attach import attach as attach_tapes

# Each can be attached before its framework is imported, and imports nothing of it until then.
_ATTACH = (attach_tapes, attach_tensorflow)

# The packages whose objects say which framework is meant, and the module that calls functions in it.
_BY_PACKAGE = {
    "tensorflow": "gradproof.frontends.tensorflow.function",
    "keras": "gradproof.frontends.tensorflow.function",
}
_NUMPY = "gradproof.tape.function"
_NOT_SERVED = {"torch": "PyTorch", "jax": "JAX", "jaxlib": "JAX"}

SUPPORTED = {
    "numpy": "gradients by gradproof.GradientTape, check() and hand-written gradients",
    "tensorflow": "gradproof run, check() and watch(); made for 2.21",
    "jax": "not yet",
    "torch": "not yet",
}
"""What works with which framework, in words."""

FRAMEWORKS = ("numpy", "tensorflow")
"""Those whose functions can be checked."""


@dataclass(frozen=True)
class Coverage:
    """The differentiable ops of a framework: with an exact meaning, without one, and those out of scope."""

    covered: Sequence[str]
    opaque: Sequence[str]
    out_of_scope: Mapping[str, str]  # op -> reason
    others: Sequence[str]  # with an exact meaning, though without a gradient of their own


class Frontend(Protocol):
    """A module that calls a user's function in its framework."""

    def check(self, request: Request) -> Checked: ...


def attach_all(receiver: Receiver, policy: Policy) -> list[Attachment]:
    """Listen to every framework that the program uses, from the moment it imports it."""
    return [attach(receiver, policy) for attach in _ATTACH]


def frontend_for(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Frontend:
    """The frontend of the framework the arguments come from; NumPy where they come from none."""
    packages = dict.fromkeys(package for value in (*args, *kwargs.values()) for package in _packages(value))
    served = {_BY_PACKAGE[package] for package in packages if package in _BY_PACKAGE}
    for package in packages:
        if package in _NOT_SERVED and not served:
            name = _NOT_SERVED[package]
            raise InvalidInput(f"check() does not know {name} yet; pass NumPy arrays or TensorFlow tensors")
    return importlib.import_module(next(iter(served), _NUMPY))


def replay_in(framework: str) -> Callable[[Program, int], Any] | None:
    """What runs a program in a framework and returns its gradient for a node; None where nothing does."""
    if framework == "numpy":
        return rounded_gradient  # the tape computes its gradients with NumPy's own arithmetic
    if framework not in FRAMEWORKS:
        return None
    replay: Callable[[Program, int], Any] = importlib.import_module(
        f"gradproof.frontends.{framework}.emit"
    ).emit
    return replay


def modes_in(framework: str) -> Mapping[str, Callable[[Program, int], Any]]:
    """Each way a framework has of running a program, by its name; what it returns is as of `replay_in`."""
    if framework == "numpy" or framework not in FRAMEWORKS:
        return {}
    modes: Mapping[str, Callable[[Program, int], Any]] = importlib.import_module(
        f"gradproof.frontends.{framework}.modes"
    ).MODES
    return modes


def coverage(framework: str) -> Coverage:
    """Computed from the framework's own registry; imports the framework."""
    module = importlib.import_module(f"gradproof.frontends.{framework}.coverage")
    return Coverage(*module.coverage())


def to_framework(framework: str, array: Any) -> Any:
    """An array as the framework's functions take it; imports the framework."""
    if framework == "numpy":
        return array
    return importlib.import_module(framework).constant(array)


def _packages(value: Any) -> Iterator[str]:
    """The top packages of the types in an argument and of what their classes derive from."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _packages(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _packages(item)
    else:
        yield from (kind.__module__.partition(".")[0] for kind in type(value).__mro__)
