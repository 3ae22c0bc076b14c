"""A table of lowerings: what the ops of a framework mean, by their names."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any

import numpy as np

from gradproof.frontends.assemble.lists import TensorList

Lower = Callable[..., Any]


class LoweringTable(dict[str, Lower]):
    """A lowering is called with the arithmetic `m`, the recorded event and its inputs as traced arrays.

    `of_complex` are the ops whose lowerings were tried with complex numbers: the others refuse them. `holds_arrays`
    says of which ops the arguments are variants that hold arrays.
    """

    def __init__(
        self, of_complex: Collection[str], holds_arrays: Callable[[str], bool] = lambda name: False
    ) -> None:
        super().__init__()
        self._of_complex = of_complex
        self._holds_arrays = holds_arrays

    def require_kind(self, name: str, arguments: Any) -> None:
        """Refuse complex numbers that a lowering was never tried with."""
        if name not in self._of_complex and holds_complex(arguments, self._holds_arrays(name)):
            raise NotImplementedError(f"{name} of complex numbers")

    def lower(self, *names: str) -> Callable[[Lower], Lower]:
        """Enter a function as the lowering of one or more ops."""

        def enter(function: Lower) -> Lower:
            for name in names:
                if name in self:
                    raise ValueError(f"{name} is lowered twice")
                self[name] = self._for_kinds(name, function)
            return function

        return enter

    def _for_kinds(self, name: str, function: Lower) -> Lower:
        @wraps(function)
        def lowered(m: Any, event: Any, *xs: Any, **named: Any) -> Any:
            self.require_kind(name, (xs, named))
            return function(m, event, *xs, **named)

        return lowered

    def lower_to(self, op: str, *names: str) -> None:
        """Ops that are an op of ours under another name, with the same inputs and no attributes that matter."""
        self.lower(*names)(lambda m, event, *xs: getattr(m, op)(*xs))


def holds_complex(x: Any, looks_inside: bool = False) -> bool:
    """Whether a structure has a traced array of complex numbers in it; inside of variants only where that is asked."""
    if isinstance(x, tuple | list):
        return any(holds_complex(item, looks_inside) for item in x)
    if isinstance(x, dict):
        return holds_complex(tuple(x.values()), looks_inside)
    if looks_inside and isinstance(x, TensorList):
        return holds_complex(x.items, looks_inside)
    return np.iscomplexobj(getattr(x, "value", 0))
