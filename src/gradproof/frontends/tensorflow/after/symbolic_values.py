"""Crashes over numbers that are asked for while a function is traced, when there are none yet."""

from __future__ import annotations

import re

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic, Fix
from gradproof.ir.span import Span

# How TensorFlow and Keras put it: a method that only tensors with numbers have, a conversion by NumPy.
_ATTRIBUTE = re.compile(
    r"'(?:SymbolicTensor|KerasTensor|Tensor)' object has no attribute '(numpy|item|tolist)'"
)
_CONVERSION = re.compile(r"[Cc]annot convert a symbolic (?:tf\.)?Tensor .*to a numpy array", re.DOTALL)


def no_numbers_yet(error: BaseException, failed: Span) -> Diagnostic | None:
    """A tensor of a graph was asked for its numbers."""
    attribute, text = _ATTRIBUTE.search(str(error)), str(error)
    if attribute is None and _CONVERSION.search(text) is None:
        return None
    how = "a NumPy function" if attribute is None else f"`.{attribute[1]}()`"
    return Diagnostic(
        kind=CRASH,
        severity="error",
        certainty="measured",
        headline=f"{how} asks for numbers while a function is traced, and there are none yet",
        primary=Annotation(failed, f"fails with {type(error).__name__}"),
        why=(
            "TensorFlow runs this code once to write down its ops; the tensors in it get their numbers later, when "
            "the function runs. Running it eagerly would lift this error and lose the gradient: numbers that left "
            "TensorFlow are constants to it."
        ),
        fix=Fix("compute it with functions of TensorFlow, which can be traced and differentiated"),
    )
