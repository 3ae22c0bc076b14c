"""`gradproof explain`: prints the long explanation of a cause or a symptom, or the list of all."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from gradproof.causes import described, names
from gradproof.errors import InvalidInput, did_you_mean
from gradproof.fixes.kinds import described as fixes_of
from gradproof.render.encoding import encodable
from gradproof.render.explain import explain, explain_symptom, list_causes, list_symptoms
from gradproof.render.line import PROSE_WIDTH
from gradproof.render.symptoms import SYMPTOMS, symptom


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "cause",
        nargs="?",
        metavar="CAUSE|SYMPTOM",
        help="the name of a cause, or one of "
        + ", ".join(one.name for one in SYMPTOMS)
        + "; without it, all are listed",
    )


def execute(given: argparse.Namespace) -> int:
    is_terminal = sys.stdout.isatty()
    width = min(shutil.get_terminal_size().columns, PROSE_WIDTH) if is_terminal else PROSE_WIDTH
    colour = is_terminal and not os.environ.get("NO_COLOR")
    if given.cause is None:
        text = list_symptoms(SYMPTOMS, width=width, colour=colour)
        text += list_causes(map(described, names()), width=width, colour=colour)
    else:
        text = _page(given.cause, width, colour)
    sys.stdout.write(encodable(text, sys.stdout.encoding))
    return 0


def _page(name: str, width: int, colour: bool) -> str:
    found = symptom(name.lower())
    if found is not None:
        return explain_symptom(found, map(described, found.causes), width=width, colour=colour)
    if name not in names():
        known = [*names(), *(one.name for one in SYMPTOMS)]
        raise InvalidInput(
            f"there is no cause named `{name}`{did_you_mean(name.lower().replace('_', '-'), known)}\n"
            "  `gradproof explain` lists all of them"
        )
    return explain(described(name), fixes_of(name), width=width, colour=colour)
