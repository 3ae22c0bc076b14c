"""Exceptions for wrong use of gradproof; a wrong gradient is never one."""

from __future__ import annotations

from collections.abc import Iterable


class GradproofError(Exception):
    """Base of every exception gradproof raises on purpose: it was called in a way it cannot serve."""


class InvalidProgram(GradproofError):
    """A program that is not well formed: an id unbound or bound twice, an odd parameter, shapes that do not fit."""


class InvalidInput(GradproofError):
    """An argument gradproof cannot work on: a dtype it does not know, an object that is not a number."""


class NoDerivative(GradproofError):
    """An op was differentiated for which no derivative rule exists (opaque, or beyond the orders known)."""


class NotSupported(GradproofError):
    """The domain cannot evaluate this function; the message names both."""


class BeyondMemory(GradproofError):
    """The enclosure asked for would not fit into memory; the message says how much it would take."""


class TooDeep(GradproofError):
    """A program so deep that balls of float64 lose all bounds, and so large that more digits would take too long."""


class NotScalar(GradproofError):
    """A scalar was needed and an array came: the message says which entry points take arrays."""


class UnreadableReport(GradproofError):
    """A file that is not a report gradproof has written; the message says where it departs from one."""


class UnreadableCapture(GradproofError):
    """A file that a deferred check has not written as it is: cut short, damaged, forged, or of another version."""


class NotData(GradproofError):
    """Something that cannot be written down, since only the running program can do it; the message names its type."""


class NotWritten(GradproofError):
    """A report that could not be written; an older one in its place is untouched."""


class TapeMisused(GradproofError):
    """A gradient tape was used in a way it cannot serve: consumed, not recording, or its Variable changed in place."""


class MissingGradient(GradproofError, TypeError):
    """A gradient that does not exist was used as a number; the message says why it is missing and where."""


class NothingToRun(GradproofError):
    """The script, folder or module that was to be run is not there, or has nothing in it that can be run."""


class FunctionFailed(GradproofError):
    """A function that was to be checked raised an exception; the message says which call did."""


def did_you_mean(name: str, known: Iterable[str], least_alike: float = 0.6) -> str:
    """`; did you mean `kink`?`, behind what says that there is no such name; empty where nothing is like it."""
    from difflib import get_close_matches  # only where a name was not found

    close = get_close_matches(name, list(known), 1, least_alike)
    return f"; did you mean `{close[0]}`?" if close else ""


def our_fault(what: str) -> str:
    """A fault of gradproof itself in one sentence, as the reason why a gradient was not judged."""
    return f"a fault of gradproof ({what}); please report it"
