"""Which code of the user's may run again after the program has ended, and what was left out for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_everything = False  # in the child process that `--rerun` starts: whatever it does stays in there
_withheld: list[str] = []


def allow_everything() -> None:
    """From now on nothing is asked for its effects: this process can have none that last."""
    global _everything
    _everything = True


def is_everything_allowed() -> bool:
    return _everything


def may_run(what: str, effect: str | None, is_repeated: bool = False) -> bool:
    """Whether something may run; where not, it is written down with the reason.

    What `is_repeated`, because it has run before, is not the same again if it had effects: that may run nowhere.
    """
    if effect is None or (_everything and not is_repeated):
        return True
    _withheld.append(f"{what}, since it may have effects ({effect})")
    return False


@contextmanager
def withheld() -> Iterator[list[str]]:
    """A list that is filled, at the end of the block, with what was not run in it; each once."""
    found: list[str] = []
    _withheld.clear()
    try:
        yield found
    finally:
        found += dict.fromkeys(_withheld)
        _withheld.clear()
