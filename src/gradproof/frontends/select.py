"""Which frontend serves a program or an argument; the only file that names the frontends."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, cast

from gradproof.fixes.verify import rounded_gradient
from gradproof.frameworks import framework as _framework
from gradproof.frontends.attachment import Attachment, Policy, Receiver
from gradproof.frontends.check.request import Checked, Request
from gradproof.frontends.jax.attach import attach as attach_jax
from gradproof.frontends.library.model import SweptLibrary
from gradproof.frontends.record.attaching import attach_on_import
from gradproof.frontends.tensorflow.attach import attach as attach_tensorflow
from gradproof.frontends.torch.attach import attach as attach_torch
from gradproof.frontends.unserved import imported
from gradproof.frontends.written_with import BY_PACKAGE, packages_of
from gradproof.ir.capture import Capture
from gradproof.ir.program import Program
from gradproof.ir.span import Span
from gradproof.modes.model import LackingMode, Mode
from gradproof.modes.rows import gradient_alone


def attach_tapes(receiver: Receiver, policy: Policy) -> Attachment:
    """To the tapes of this process, once it has any: to load them and SciPy, whose functions they know, takes long."""

    def begin() -> tuple[Any, Callable[[], None]]:
        begun: tuple[Any, Callable[[], None]] = importlib.import_module("gradproof.tape.attach").begin(
            receiver, policy
        )
        return begun

    return attach_on_import("numpy", begin, lambda key: cast(Span, key), package="gradproof.tape")


# Each can be attached before its framework is imported, and imports nothing of it until then.
_ATTACH = (attach_tapes, attach_tensorflow, attach_jax, attach_torch)

# Modules that call functions in a framework.
_FUNCTION = "gradproof.frontends.{}.function"
_NUMPY = "gradproof.tape.function"

SUPPORTED = {
    "numpy": "gradients by gradproof.GradientTape, check() and hand-written gradients",
    **{
        name: f"gradproof run, check() and watch(); made for {_framework(name).served}"
        for name in ("tensorflow", "jax", "torch")
    },
}
"""What works with which framework, in words."""

FRAMEWORKS = ("numpy", "tensorflow", "jax", "torch")
"""Those whose functions can be checked."""

WITH_COVERAGE = ("tensorflow", "jax", "torch")
"""Those whose own registry of ops is held against what has an exact meaning here."""


@dataclass(frozen=True)
class Coverage:
    """The differentiable ops of a framework: with an exact meaning, without one, and those out of scope."""

    covered: Sequence[str]
    opaque: Sequence[str]
    out_of_scope: Mapping[str, str]  # op -> reason
    others: Sequence[str]  # with an exact meaning, though without a gradient of their own
    partly: Mapping[str, str] = field(default_factory=dict)  # covered, but for some calls -> why not those
    counted: str = "ops with a registered gradient"


class Frontend(Protocol):
    """A module that calls a user's function in its framework."""

    def check(self, request: Request) -> Checked: ...


def attach_all(receiver: Receiver, policy: Policy) -> list[Attachment]:
    """Listen to every framework that the program uses, from the moment it imports it."""
    return [attach(receiver, policy) for attach in _ATTACH]


def unserved(attachments: Sequence[Attachment]) -> list[str]:
    """The frameworks, by their names, that the program imports and whose gradients nobody listens to."""
    return imported({attachment.framework for attachment in attachments})


def frontend_for(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Frontend:
    """The frontend of the framework the arguments come from; NumPy where they come from none."""
    packages = dict.fromkeys(package for value in (*args, *kwargs.values()) for package in _packages(value))
    served = [_FUNCTION.format(BY_PACKAGE[package]) for package in packages if package in BY_PACKAGE]
    return importlib.import_module(next(iter(served), _NUMPY))


def replay_in(capture: Capture) -> Callable[[Program, int], Any] | None:
    """What runs a changed program as the user's framework would; None where nothing does.

    It returns the gradient for a node, or None where it cannot run the program as it ran but for the change.
    """
    if capture.framework == "numpy":
        return rounded_gradient  # the tape computes its gradients with NumPy's own arithmetic
    name = f"gradproof.frontends.{capture.framework}.replay"
    if not is_installed(capture.framework) or importlib.util.find_spec(name) is None:
        return None
    replay: Callable[[Program, int], Any] = importlib.import_module(name).replay_of(capture)
    return replay


def is_installed(framework: str) -> bool:
    """Whether a framework that is served is here: what it has computed may be judged where it is not."""
    return framework in FRAMEWORKS and importlib.util.find_spec(_framework(framework).module) is not None


def modes_in(framework: str) -> Mapping[str, Callable[[Program, int], Any]]:
    """The usual ways a framework has of running a program, by name; what each returns is as of `replay_in`."""
    if framework == "numpy" or not is_installed(framework):
        return {}
    title = _framework(framework).title
    return {
        f"the forward ops, by {title}, {mode.words}": partial(gradient_alone, mode)
        for mode in usual_modes(framework)
    }


def usual_modes(framework: str) -> list[Mode]:
    """Those of a framework's modes that programs are written for."""
    return [mode for mode in plain_modes(framework) if mode.runs_as]


def plain_modes(framework: str) -> list[Mode]:
    """A framework's modes that need neither a device nor a process of their own."""
    return list(_modes_of(framework).MODES) if framework in FRAMEWORKS else []


def modes_offered(framework: str, is_here: bool = False) -> tuple[list[Mode], list[LackingMode]]:
    """Every mode that a framework has on this machine, and those it lacks; imports the framework.

    With `is_here` modes that need a process of their own are among those it lacks.
    """
    offered: tuple[list[Mode], list[LackingMode]] = _modes_of(framework).offered(is_here)
    return offered


def _modes_of(framework: str) -> Any:
    home = "gradproof.tape" if framework == "numpy" else f"gradproof.frontends.{framework}"
    return importlib.import_module(f"{home}.modes")


def coverage(framework: str) -> Coverage:
    """Computed from the framework's own registry; imports the framework."""
    module = importlib.import_module(f"gradproof.frontends.{framework}.coverage")
    return Coverage(*module.coverage())


def to_framework(framework: str, array: Any) -> Any:
    """An array as the framework's functions take it; imports the framework."""
    if framework == "numpy":
        return array
    known = _framework(framework)
    return getattr(importlib.import_module(known.module), known.constant)(array)


def _packages(value: Any) -> Iterator[str]:
    """The top packages of the types in an argument and of what their classes derive from."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _packages(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _packages(item)
    else:
        yield from packages_of(value)


def library_of(framework: str) -> SweptLibrary:
    """The framework as a sweep sees it; imports the framework."""
    module = importlib.import_module(f"gradproof.frontends.{framework}.library")
    found: SweptLibrary = module.library()
    return found


def records_of(framework: str) -> tuple[type[Any], ...]:
    """The classes of a frontend whose objects a capture may hold, all of them data; imports the framework."""
    if framework not in WITH_COVERAGE:
        return ()
    module = importlib.import_module(f"gradproof.frontends.{framework}.kernels")
    found: tuple[type[Any], ...] = getattr(module, "RECORDS", ())
    return found
