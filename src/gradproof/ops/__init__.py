"""The closed set of functions a program may name, forward and derivative together."""
