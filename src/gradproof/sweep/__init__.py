"""A sweep of a whole library: every op at ordinary and edge inputs, and what was found wrong as data and as text."""
