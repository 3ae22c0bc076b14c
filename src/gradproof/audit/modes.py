"""Which modes a gradient is compared in: those of its own framework, and of every other one that is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gradproof.audit.versions import installed_version
from gradproof.errors import InvalidInput
from gradproof.frameworks import framework
from gradproof.frontends.select import FRAMEWORKS, modes_offered
from gradproof.modes.model import LackingMode, Mode


def modes_for(
    own: str, chosen: Sequence[str] | None = None, is_here: bool = False
) -> tuple[list[Mode], list[LackingMode]]:
    """The modes of the framework itself first, and those of the others, or of the chosen ones, that are installed."""
    check_frameworks(chosen)
    wanted = FRAMEWORKS if chosen is None else tuple(chosen)
    modes: list[Mode] = []
    lacking: list[LackingMode] = []
    for name in (own, *(one for one in wanted if one != own)):
        module = framework(name).module.partition(".")[0]
        if name != own and module not in sys.modules and installed_version(name) is None:
            lacking.append(LackingMode(name, "the same function", "it is not installed"))
            continue
        try:
            offered = modes_offered(name, is_here)
        except ImportError as error:
            lacking.append(LackingMode(name, "the same function", f"it cannot be imported: {error}"))
            continue
        modes += offered[0]
        lacking += offered[1]
    return modes, lacking


def check_frameworks(chosen: Sequence[str] | None) -> None:
    """Names that nobody knows are told before anything runs."""
    unknown = [name for name in chosen or () if name not in FRAMEWORKS]
    if unknown:
        raise InvalidInput(f"there is no framework `{unknown[0]}` here; known are {', '.join(FRAMEWORKS)}")
