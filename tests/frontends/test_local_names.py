"""Reading the names of a frame changes nothing for the program that runs in it."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from gradproof.frontends.record.local_names import local_names


class Thing:
    pass


def test_what_a_name_held_is_freed_when_the_name_is_gone() -> None:
    thing = Thing()
    freed = weakref.ref(thing)
    assert local_names(sys._getframe())["thing"] is thing
    del thing
    assert freed() is None


def test_what_a_program_asked_for_itself_stays() -> None:
    def work() -> tuple[dict[str, Any], int]:
        n = 3
        mine = locals()
        return mine, local_names(sys._getframe())["n"]

    mine, n = work()
    assert mine["n"] == n == 3


def test_names_of_a_module_are_its_own() -> None:
    names: dict[str, Any] = {"frame": sys._getframe, "read": local_names}
    exec(compile("n = 2\nread(frame())", "module", "exec"), names)
    assert names["n"] == 2
