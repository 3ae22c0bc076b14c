"""Derivatives of functions that can only be called: value, error bar, and what stood in the way."""

from gradproof.blackbox.derivative import derivative, directional, gradient, jacobian
from gradproof.blackbox.result import Curve, Derivative, Derivatives

__all__ = ["Curve", "Derivative", "Derivatives", "derivative", "directional", "gradient", "jacobian"]
