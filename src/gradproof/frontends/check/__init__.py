"""Checks of functions: the request, the purity of the function, names."""
