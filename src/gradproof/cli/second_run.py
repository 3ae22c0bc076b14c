"""The child process of `gradproof run --rerun`: shuts itself off, runs the script, and sends its report back.

It is started by its path, with the number of a pipe, a folder to mount on, the folders that get a layer in memory, a
change of the script, and the words of `gradproof run`. A process can only be shut off while it has one thread, and
NumPy starts others when it is imported, so that the file that does it is loaded without its package.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from gradproof.diagnosis.report import Report

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main() -> None:
    pipe, scratch, folders, mended, *words = sys.argv[1:]
    isolate = runpy.run_path(os.path.join(_PACKAGE, "audit", "isolation.py"))["isolate"]
    held = isolate(scratch, json.loads(folders))
    del sys.path[0]  # where this file lies
    if os.path.dirname(_PACKAGE) not in sys.path:
        sys.path.append(os.path.dirname(_PACKAGE))

    from gradproof.audit.second_run import mended_from
    from gradproof.cli.run import silent_report
    from gradproof.frontends.after.rerun import allow_everything

    change = mended_from(mended)
    if change is not None and not change.may_run(held):
        return
    allow_everything()
    silent_report(words, change, lambda report: _send(report, held, int(pipe)))


def _send(report: Report, held: Sequence[str], pipe: int) -> NoReturn:
    from gradproof.audit.second_run import without_pictures
    from gradproof.render.to_json import to_document

    text = json.dumps({"held": held, "report": to_document(without_pictures(report), full=True)})
    with os.fdopen(pipe, "w", encoding="utf-8") as stream:
        stream.write(text + "\n")
    os._exit(0)  # what the script has left for its end has happened once


if __name__ == "__main__":
    main()
