"""The variables of the program, by their handles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from weakref import ReferenceType, ref

from tensorflow.python.ops import resource_variable_ops

from gradproof.frontends.record.patches import Patch, wrap

_BASE = resource_variable_ops.BaseResourceVariable


@dataclass(eq=False)
class Variables:
    """Every variable that is made while the program is observed, and those before it where one is asked for.

    An older variable is looked for among all objects of the process, once: that takes longer than the check of a small
    function, and only a function that was given a variable as its argument needs it.
    """

    known: dict[int, ReferenceType[Any]] = field(default_factory=dict)
    has_looked: bool = False

    def patches(self) -> list[Patch]:
        return [wrap(_BASE, "__init__", self._init)]

    def _init(self, original: Any, variable: Any, *args: Any, **kwargs: Any) -> None:
        original(variable, *args, **kwargs)
        self._add(variable)

    def _add(self, variable: Any) -> None:
        """By address, since variables refuse to be hashed; the entry goes with the variable."""
        key = id(variable)
        self.known[key] = ref(variable, lambda _: self.known.pop(key, None))

    def by_handle(self, handle: int) -> Any:
        """The variable with a given handle, None if it is gone."""
        found = next((one for one in self._alive() if one._handle._id == handle), None)
        if found is None and not self.has_looked:
            self.has_looked = True
            for thing in gc.get_objects():
                if issubclass(type(thing), _BASE):
                    self._add(thing)
            return self.by_handle(handle)
        return found

    def _alive(self) -> Iterator[Any]:
        for reference in list(self.known.values()):
            variable = reference()
            if getattr(variable, "_handle", None) is not None:
                yield variable
