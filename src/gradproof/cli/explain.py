"""`gradproof explain`: prints the long explanation of a cause, or the list of all."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from difflib import get_close_matches

from gradproof.causes import causes
from gradproof.errors import InvalidInput
from gradproof.render.diagnostic_text import PROSE_WIDTH
from gradproof.render.encoding import encodable
from gradproof.render.explain import explain, list_causes


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "cause", nargs="?", metavar="CAUSE", help="the name of a cause; without it, all are listed"
    )


def execute(given: argparse.Namespace) -> int:
    is_terminal = sys.stdout.isatty()
    width = min(shutil.get_terminal_size().columns, PROSE_WIDTH) if is_terminal else PROSE_WIDTH
    colour = is_terminal and not os.environ.get("NO_COLOR")
    if given.cause is None:
        text = list_causes(causes(), width=width, colour=colour)
    else:
        named = {cause.name: cause for cause in causes()}
        if given.cause not in named:
            raise InvalidInput(_unknown(given.cause, list(named)))
        text = explain(named[given.cause], width=width, colour=colour)
    sys.stdout.write(encodable(text, sys.stdout.encoding))
    return 0


def _unknown(name: str, known: list[str]) -> str:
    close = get_close_matches(name.lower().replace("_", "-"), known, 1)
    similar = f"; there is one with a similar name: {close[0]}" if close else ""
    return f"there is no cause named `{name}`{similar}\n  `gradproof explain` lists all of them"
