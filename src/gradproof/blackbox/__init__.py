"""Derivatives of functions that can only be called: value, error bar, and what stood in the way."""

from gradproof.blackbox.derivative import derivative, directional, gradient, jacobian
from gradproof.blackbox.numerical_check import NumericalCheck, gradient_check_numerical
from gradproof.blackbox.result import Curve, Derivative, Derivatives
from gradproof.blackbox.step import StepJudgement

__all__ = [
    "Curve",
    "Derivative",
    "Derivatives",
    "NumericalCheck",
    "StepJudgement",
    "derivative",
    "directional",
    "gradient",
    "gradient_check_numerical",
    "jacobian",
]
