"""Gradients of programs that use JAX: listening to them, reading their jaxprs, what its primitives mean."""
