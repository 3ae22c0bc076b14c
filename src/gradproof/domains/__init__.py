"""Number systems in which a program can be run.

A domain has arrays of its own for reals (`np.ndarray`, `Ball64`, object arrays of `arb`) with `shape`, `ndim`, and the
operators + - * / and unary minus, also with Python numbers, which are taken as exact. Booleans and integers are plain
NumPy arrays in every domain. Entrywise functions are methods named like the op (`exp`, `log`, ...). Besides them:

- `enter(array)`: the exact numbers of a float, integer or boolean array, as reals of the domain
- `leave(x)`: midpoint and radius in float64, |x - midpoint| <= radius; zeros where rounding is not tracked
- `lift(function, *xs)`: applies a NumPy function that only moves, repeats or drops entries
- `settle(y, dtype)`: the result of an op as an array of the domain, rounded to `dtype` where the domain rounds
- `active()`: what must hold while the domain computes: a precision, or NumPy's warnings switched off
"""
