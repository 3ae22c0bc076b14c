"""How much of what ran counts as connected, when the events of a call become a program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """What counts as connected: also ops that the tape did not hear, numbers that left and came back as constants,
    values that were put into a variable and read again."""

    unheard: bool = False
    returned: bool = False
    stored: bool = False


HEARD = View()
RETURNED = View(returned=True)
WHOLE = View(unheard=True, returned=True, stored=True)
"""What a gradient that is missing would have been the derivative of."""
