"""Elementary functions on float64 arrays with proven error bounds, and their enclosures over balls.

`exp(x)` returns the values y and a mask `ok`; where `ok` holds, |y - exp(x)| <= EXP_ERROR.error(x, y),
elsewhere y is NaN. `enclose_exp(mid, rad)` returns midpoint and radius of balls that hold exp of every number
of the given balls; where that is not proven the radius is infinite. The other functions follow the same
pattern.

NumPy's own functions come without any bound, so these are built from + - * / and the square root, which IEEE
754 rounds correctly: reduce the argument, evaluate a polynomial, reconstruct.
"""

from __future__ import annotations

from functools import partial

from gradproof.domains.enclosure64 import Elementary, enclose, evaluate
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

EXP_ERROR, exp, enclose_exp = EXP.error, partial(evaluate, EXP), partial(enclose, EXP)
EXPM1_ERROR, expm1, enclose_expm1 = EXPM1.error, partial(evaluate, EXPM1), partial(enclose, EXPM1)
LOG_ERROR, log, enclose_log = LOG.error, partial(evaluate, LOG), partial(enclose, LOG)
LOG1P_ERROR, log1p, enclose_log1p = LOG1P.error, partial(evaluate, LOG1P), partial(enclose, LOG1P)
SIN_ERROR, sin, enclose_sin = SIN.error, partial(evaluate, SIN), partial(enclose, SIN)
COS_ERROR, cos, enclose_cos = COS.error, partial(evaluate, COS), partial(enclose, COS)
TAN_ERROR, tan, enclose_tan = TAN.error, partial(evaluate, TAN), partial(enclose, TAN)
ATAN_ERROR, atan, enclose_atan = ATAN.error, partial(evaluate, ATAN), partial(enclose, ATAN)
TANH_ERROR, tanh, enclose_tanh = TANH.error, partial(evaluate, TANH), partial(enclose, TANH)
SIGMOID_ERROR, sigmoid, enclose_sigmoid = SIGMOID.error, partial(evaluate, SIGMOID), partial(enclose, SIGMOID)
SOFTPLUS_ERROR, softplus, enclose_softplus = (
    SOFTPLUS.error,
    partial(evaluate, SOFTPLUS),
    partial(enclose, SOFTPLUS),
)
LOG_SIGMOID_ERROR = LOG_SIGMOID.error
log_sigmoid, enclose_log_sigmoid = partial(evaluate, LOG_SIGMOID), partial(enclose, LOG_SIGMOID)
SINH_ERROR, sinh, enclose_sinh = SINH.error, partial(evaluate, SINH), partial(enclose, SINH)
COSH_ERROR, cosh, enclose_cosh = COSH.error, partial(evaluate, COSH), partial(enclose, COSH)
ERF_ERROR, erf, enclose_erf = ERF.error, partial(evaluate, ERF), partial(enclose, ERF)
ERFC_ERROR, erfc, enclose_erfc = ERFC.error, partial(evaluate, ERFC), partial(enclose, ERFC)
SQRT_ERROR, sqrt, enclose_sqrt = SQRT.error, partial(evaluate, SQRT), partial(enclose, SQRT)
RSQRT_ERROR, rsqrt, enclose_rsqrt = RSQRT.error, partial(evaluate, RSQRT), partial(enclose, RSQRT)
ASIN_ERROR, asin, enclose_asin = ASIN.error, partial(evaluate, ASIN), partial(enclose, ASIN)
ACOS_ERROR, acos, enclose_acos = ACOS.error, partial(evaluate, ACOS), partial(enclose, ACOS)
ASINH_ERROR, asinh, enclose_asinh = ASINH.error, partial(evaluate, ASINH), partial(enclose, ASINH)
ACOSH_ERROR, acosh, enclose_acosh = ACOSH.error, partial(evaluate, ACOSH), partial(enclose, ACOSH)
ATANH_ERROR, atanh, enclose_atanh = ATANH.error, partial(evaluate, ATANH), partial(enclose, ATANH)
