"""Proof that a gradient is right, or the reason why it is not."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# The public names and the modules they live in. A module is imported when one of its names is first used, so
# that `import gradproof` costs next to nothing and loads neither NumPy's companions nor any framework.
_PUBLIC = {
    "GradientTape": "gradproof.tape",
    "IncorrectGradient": "gradproof.checking",
    "Options": "gradproof.options",
    "Report": "gradproof.diagnosis.report",
    "Variable": "gradproof.tape",
    "Verdict": "gradproof.judge.verdict",
    "assert_correct": "gradproof.checking",
    "check": "gradproof.checking",
    "compare": "gradproof.comparing",
    "custom_gradient": "gradproof.tape",
    "derivative": "gradproof.blackbox",
    "directional": "gradproof.blackbox",
    "gradient": "gradproof.blackbox",
    "gradient_check_numerical": "gradproof.blackbox",
    "intended": "gradproof.diagnosis.intent",
    "jacobian": "gradproof.blackbox",
    "stop_gradient": "gradproof.tape",
    "watch": "gradproof.checking",
}

# Modules for one tool each, which they import.
_MODULES = ("keras",)

__all__ = [
    "GradientTape",
    "IncorrectGradient",
    "Options",
    "Report",
    "Variable",
    "Verdict",
    "__version__",
    "assert_correct",
    "check",
    "compare",
    "custom_gradient",
    "derivative",
    "directional",
    "gradient",
    "gradient_check_numerical",
    "intended",
    "jacobian",
    "stop_gradient",
    "watch",
]

if TYPE_CHECKING:
    from gradproof.blackbox import derivative, directional, gradient, gradient_check_numerical, jacobian
    from gradproof.checking import IncorrectGradient, assert_correct, check, watch
    from gradproof.comparing import compare
    from gradproof.diagnosis.intent import intended
    from gradproof.diagnosis.report import Report
    from gradproof.judge.verdict import Verdict
    from gradproof.options import Options
    from gradproof.tape import GradientTape, Variable, custom_gradient, stop_gradient


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"gradproof.{name}")
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'gradproof' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_MODULES})


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext gradproof` calls: it adds the magics `%%gradproof` and `%gradproof`."""
    from gradproof.plugins.jupyter import load

    load(shell)
