"""Proof that a gradient is right, or the reason why it is not."""

__version__ = "0.1.0"
