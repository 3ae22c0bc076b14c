"""The command line: finds the command, runs it, and turns misuse into a message and an exit status."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from gradproof import __version__
from gradproof.errors import GradproofError

MISUSED = 2
INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C has ended

# A command is the module of this name. Only the one that is called is imported, so that help comes at once.
COMMANDS = {
    "run": "audit an unmodified script, as `python SCRIPT ARGS` would run it",
    "check": "check one function",
    "tour": "the examples one after the other, with what each teaches",
    "render": "show a saved report again, or write it in another form",
    "explain": "the long explanation of a cause, or the list of all causes",
    "doctor": "versions, frameworks found, what is supported",
    "schema": "the JSON Schema of the machine format",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _command(given)
    except GradproofError as error:
        print(f"gradproof: error: {error}", file=sys.stderr)
        return MISUSED
    except KeyboardInterrupt:
        return INTERRUPTED  # in a run: the second Ctrl-C, since the first one asks for the report
    except BrokenPipeError:
        # Whoever read the output has gone; Python would complain once more when it closes the stream.
        sys.stdout = None
        return 0


def _command(given: list[str]) -> int:
    if not given or given[0] not in COMMANDS:
        _overview().parse_args(given or ["--help"])
    name, rest = given[0], given[1:]
    module = importlib.import_module(f"gradproof.cli.{name}")
    parser = argparse.ArgumentParser(prog=f"gradproof {name}", description=COMMANDS[name], allow_abbrev=False)
    module.configure(parser)
    status = module.execute(parser.parse_args(rest))
    assert isinstance(status, int)
    return status


def _overview() -> argparse.ArgumentParser:
    commands = "\n".join(f"  {name:<9}{summary}" for name, summary in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="gradproof",
        description="Proof that a gradient is right, or the reason why it is not.",
        epilog=f"commands:\n{commands}\n\n`gradproof COMMAND --help` says more about one of them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gradproof {__version__}")
    parser.add_argument("command", choices=list(COMMANDS), metavar="COMMAND")
    return parser
