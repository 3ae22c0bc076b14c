"""What is to be known about a framework in order to write about it, and to write in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Framework:
    """`module` is what programs import for its functions, and `alias` what they usually call it.

    `spellings` says how an op of ours is written: the name of a function, or an expression in which `A` is the
    argument. `axis` and `keepdims` are the keywords of reductions, `axis_needed` the ops that must be told an axis.
    `constant` is the function that makes an array of its own of numbers. `checker` is its own check of gradients.
    """

    name: str
    title: str
    module: str
    alias: str
    distributions: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()  # whose objects say that this framework is meant
    companions: tuple[str, ...] = ()  # libraries on top of it whose version matters too
    unseen_before: str = ""  # what of it is not seen if it was there before anybody watched
    made_for: tuple[str, ...] = ()  # the versions it was tried with, oldest first, by their first numbers
    spellings: Mapping[str, str] = field(default_factory=dict)
    axis: str = "axis"
    keepdims: str = "keepdims"
    axis_needed: frozenset[str] = frozenset()
    constant: str = "asarray"
    as_array: str = ""  # {x} in {dtype}, be it a number: where its functions refuse numbers, or round them
    cast: str = ""  # of {x} to {dtype}
    package: str = ""  # where its settings are
    wide_setting: str = ""  # without which it has no float64
    wide_default: str = ""  # after which what names no dtype is float64
    rule_is_passed_kept: bool = (
        False  # whether a derivative rule gets what its forward kept as its first argument
    )
    rule_decorators: tuple[str, ...] = ()  # that say of a function that its derivative is written by hand
    rule_class: str = ""  # of which classes with a forward and its derivative are made
    compilers: tuple[str, ...] = ()  # decorators, and functions of functions, that compile
    stack: str = ""  # its function that makes one array of several
    truncated: str = ""  # {x} rounded towards zero
    at_least: str = ""  # {x}, or the number {bound} where that is larger
    at_most: str = ""  # {x}, or the number {bound} where that is smaller
    detached: str = ""  # {x} without its history
    slopes_helper: str = (
        ""  # a function called {name} that gives others slopes by differences, with steps of {scale}
    )
    slope_scales: tuple[str, ...] = ()  # for numbers near 1, and for numbers far below
    adds_gradients: bool = False  # to those of earlier calls
    leaf_keyword: str = ""  # with which an array is made one that gradients are collected in
    leaf_made: str = ""  # {x} as such an array
    retained: str = ""  # what lets {x} keep a gradient though it is computed from others
    without_graph: str = ""  # the block in which such an array may be changed in place
    chooses_along_first: bool = False  # axis, where an argmax is told none; otherwise among all numbers
    one_hot: str = ""  # with {labels}, {n} and {axis}
    places: str = ""  # the numbers 0, 1, ... up to {n}
    checker: str = ""
    loss_scaling: str = ""  # what keeps gradients of 16 bits out of the numbers that are too small
    stop_gradient: str = ""
    random: str = ""  # where its own random numbers come from
    changeable: str = ""  # how else than as an argument a number that changes gets into what is traced
    variable: str = ""  # what makes {name} something that gradients are computed for
    returns_none: bool = True  # where there is no gradient; otherwise it says why
    for_integers: str = (
        ""  # the dtype of what it returns in the place of their gradient, where that is not None
    )
    returns_zeros: bool = False  # where nothing leads from a source to the target, without being asked to
    is_read_by_numpy: bool = True  # what is differentiated; otherwise NumPy is refused it
    signs_of_none: tuple[str, ...] = ()  # what it says when it is handed None in the place of a gradient

    @property
    def served(self) -> str:
        """The versions it was tried with, in words."""
        return " to ".join(dict.fromkeys((self.made_for[0], self.made_for[-1]))) if self.made_for else ""

    @property
    def where(self) -> str:
        """Its function that selects, as it is usually written."""
        return self.spellings.get("select", "the selection")
