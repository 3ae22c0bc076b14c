"""The command line: finds the command, runs it, and turns misuse into a message and an exit status."""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import sys
from collections.abc import Sequence
from types import ModuleType

from gradproof import __version__
from gradproof.cli.parser import Parser
from gradproof.errors import GradproofError
from gradproof.ir.launcher import note_launcher

MISUSED = 2
INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C has ended
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # the output takes no more

# A command is the module of this name. Only the one that is called is imported, so that help comes at once.
COMMANDS = {
    "run": "audit an unmodified script, as `python SCRIPT ARGS` would run it",
    "check": "check one function",
    "tour": "the examples one after the other, with what each teaches",
    "render": "show a saved report again, or write it in another form",
    "compare": "one gradient in every execution mode and precision, or two saved reports",
    "examine": "judge what `gradproof run --defer DIR` has kept, here or on a cluster",
    "sweep": "every differentiable op of a library, at ordinary and edge inputs",
    "explain": "the long explanation of a cause, or the list of all causes",
    "doctor": "versions, frameworks found, what is supported",
    "schema": "the JSON Schema of the machine format",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    is_ours = arguments is None  # the process: as the script calls it that an installer has made
    if is_ours:
        note_launcher(sys._getframe(1).f_code.co_filename)
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _command(given, is_ours)
        if given[:1] != ["run"]:  # there the standard output is the program's, and ends as Python ends it
            sys.stdout.flush()
        return status
    except GradproofError as error:
        print(f"gradproof: error: {error}", file=sys.stderr)
        _let_go_of_full_output()
        return MISUSED
    except KeyboardInterrupt:
        return INTERRUPTED  # in a run: the second Ctrl-C, since the first one asks for the report
    except BrokenPipeError:
        # Whoever read the output has gone; Python would complain once more when it closes the stream.
        sys.stdout = None
        return 0
    except MemoryError:
        print("gradproof: error: out of memory", file=sys.stderr)
        return MISUSED
    except OSError as error:
        if error.errno not in _FULL:
            raise  # a fault of ours, with its traceback
        print(f"gradproof: error: the output could not be written: {error.strerror}", file=sys.stderr)
        _let_go_of_full_output()
        return MISUSED


def _let_go_of_full_output() -> None:
    """Python would try once more to write what did not fit, and complain that it does not."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = None


def _command(given: list[str], is_ours: bool) -> int:
    if not given or given[0] not in COMMANDS:
        _overview().parse_args(given or ["--help"])
    name, rest = given[0], given[1:]
    module = _loaded(name) if is_ours else importlib.import_module(f"gradproof.cli.{name}")
    parser = Parser(prog=f"gradproof {name}", description=COMMANDS[name], allow_abbrev=False)
    module.configure(parser)
    status = module.execute(parser.parse_args(rest))
    assert isinstance(status, int)
    return status


def _loaded(name: str) -> ModuleType:
    """The module of a command. What it has loaded stays: no collection of garbage, which a program that imports a
    framework makes several of, looks through it again."""
    was_enabled = gc.isenabled()
    gc.disable()
    module = importlib.import_module(f"gradproof.cli.{name}")
    gc.freeze()
    if was_enabled:
        gc.enable()
    return module


def _overview() -> argparse.ArgumentParser:
    commands = "\n".join(f"  {name:<9}{summary}" for name, summary in COMMANDS.items())
    parser = Parser(
        prog="gradproof",
        description="Proof that a gradient is right, or the reason why it is not.",
        epilog=f"commands:\n{commands}\n\n`gradproof COMMAND --help` says more about one of them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gradproof {__version__}")
    parser.add_argument("command", choices=list(COMMANDS), metavar="COMMAND")
    return parser
