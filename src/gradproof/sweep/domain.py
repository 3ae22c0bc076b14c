"""Whether the parameters of a distribution are what its documentation allows."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from gradproof.frontends.library.model import OpCall

_OF_A_DISTRIBUTION = re.compile(r"\.stats\.(\w+)\.\w+$")


def is_outside_of_its_domain(sample: OpCall) -> bool:
    """Whether SciPy's distribution of the same name has no support with these parameters: what it is there is nothing.

    Functions of a distribution take a number first, then its parameters.
    """
    from scipy import stats

    found = _OF_A_DISTRIBUTION.search(sample.op)
    distribution = None if found is None else getattr(stats, found[1], None)
    if not isinstance(distribution, stats.rv_continuous | stats.rv_discrete):
        return False
    try:
        call = ast.parse(sample.call, mode="eval").body
        assert isinstance(call, ast.Call)
        given = [_value(one, sample) for one in call.args[1:]]
        named = {
            str(one.arg): _value(one.value, sample) for one in call.keywords if one.arg not in ("x", "k")
        }
        ends = distribution.support(*given, **named)
    except (TypeError, ValueError):  # parameters that SciPy does not have, or that do not fit each other
        return False
    return bool(np.isnan(np.asarray(ends, np.float64)).any())


def _value(node: ast.expr, sample: OpCall) -> Any:
    return sample.arrays[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)
