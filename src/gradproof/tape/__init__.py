"""The embedded engine: gradients of plain NumPy code, each with a guaranteed error bound."""

from gradproof.tape import operators as _operators  # gives the array its operators
from gradproof.tape.array import Array, array
from gradproof.tape.custom import custom_gradient, stop_gradient
from gradproof.tape.missing import Missing
from gradproof.tape.result import Gradient, TracedGradient
from gradproof.tape.tape import GradientTape
from gradproof.tape.variable import Variable

__all__ = [
    "Array",
    "Gradient",
    "GradientTape",
    "Missing",
    "TracedGradient",
    "Variable",
    "array",
    "custom_gradient",
    "stop_gradient",
]
del _operators
