"""Elementary functions on float64 arrays with proven error bounds, and their enclosures over balls.

`evaluate(EXP, x)` returns the values y and a mask `ok`; where `ok` holds, |y - exp(x)| <= EXP.error.error(x, y),
elsewhere y is NaN. `enclose(EXP, mid, rad)` returns midpoint and radius of balls that hold exp of every number
of the given balls; where that is not proven the radius is infinite.

NumPy's own functions come without any bound, so these are built from + - * / and the square root, which IEEE
754 rounds correctly: reduce the argument, evaluate a polynomial, reconstruct.
"""

from __future__ import annotations

from gradproof.domains.enclosure64 import Elementary
from gradproof.domains.erf64 import ERF, ERFC
from gradproof.domains.exp64 import COSH, EXP, EXPM1, SIGMOID, SINH, TANH
from gradproof.domains.inverse64 import ACOS, ACOSH, ASIN, ASINH, ATANH, RSQRT, SQRT
from gradproof.domains.log64 import LOG, LOG1P, LOG_SIGMOID, SOFTPLUS
from gradproof.domains.trig64 import ATAN, COS, SIN, TAN

FUNCTIONS: dict[str, Elementary] = {
    "exp": EXP,
    "expm1": EXPM1,
    "log": LOG,
    "log1p": LOG1P,
    "sin": SIN,
    "cos": COS,
    "tan": TAN,
    "atan": ATAN,
    "tanh": TANH,
    "sigmoid": SIGMOID,
    "softplus": SOFTPLUS,
    "log_sigmoid": LOG_SIGMOID,
    "sinh": SINH,
    "cosh": COSH,
    "erf": ERF,
    "erfc": ERFC,
    "sqrt": SQRT,
    "rsqrt": RSQRT,
    "asin": ASIN,
    "acos": ACOS,
    "asinh": ASINH,
    "acosh": ACOSH,
    "atanh": ATANH,
}
