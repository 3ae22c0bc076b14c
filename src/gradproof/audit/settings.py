"""Settings of a project, kept in the table `[tool.gradproof]` of its pyproject.toml."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from typing import Any, cast, get_args

from gradproof.audit.budget import parse_checks
from gradproof.causes import names as names_of_causes
from gradproof.diagnosis.report import FailOn, GradientReport, Report
from gradproof.errors import InvalidInput, did_you_mean
from gradproof.judge.verdict import Verdict

FILE = "pyproject.toml"
TABLE = "[tool.gradproof]"


@dataclass(frozen=True)
class Settings:
    """What a project has set; None where it is left to the default. `path` is the file it stands in.

    `accept` are causes and verdicts that are meant to be as they are, `exclude` patterns of files whose gradients
    are accepted as they are.
    """

    path: str | None = None
    fail_on: FailOn | None = None
    checks: str | None = None
    budget: float | None = None
    accept: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def given(self) -> dict[str, Any]:
        """What was set, by the names in the table."""
        known = {name: getattr(self, name.replace("-", "_")) for name in _READERS}
        return {name: value for name, value in known.items() if value not in (None, ())}

    def accepts(self, gradient: GradientReport) -> bool:
        """Whether all that is wrong with a gradient is accepted, by the name of its cause or of the verdict."""
        kinds = {diagnostic.kind for diagnostic in gradient.diagnostics if diagnostic.rank > 0}
        return str(gradient.verdict) in self.accept or (bool(kinds) and kinds <= set(self.accept))

    def applied(self, report: Report) -> Report:
        """The report with what is accepted marked as intended."""
        return replace(
            report,
            gradients=tuple(
                replace(each, intended=True) if each.level != "note" and self.accepts(each) else each
                for each in report.gradients
            ),
        )

    def excludes(self, file: str) -> bool:
        """Whether a file is left out; patterns are relative to the folder of the settings."""
        if self.path is None:
            return False
        inside = os.path.relpath(os.path.abspath(file), os.path.dirname(self.path)).replace(os.sep, "/")
        return any(fnmatch(inside, pattern) or inside.startswith(f"{pattern}/") for pattern in self.exclude)


def find_settings(folder: str) -> Settings:
    """Those of the nearest pyproject.toml at or above a folder that has the table; the defaults where none has."""
    folder = os.path.abspath(folder)
    while True:
        path = os.path.join(folder, FILE)
        table = _table(path)
        if table is not None:
            return _read(table, path)
        above = os.path.dirname(folder)
        if above == folder:
            return Settings()
        folder = above


def _table(path: str) -> Mapping[str, Any] | None:
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file).get("tool", {}).get("gradproof")
    except OSError:
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError) as error:
        raise InvalidInput(f"`{path}` cannot be read: {error}") from error
    if found is not None and not isinstance(found, dict):
        raise InvalidInput(f"`{path}`: {TABLE} is a table")
    return found


def _read(table: Mapping[str, Any], path: str) -> Settings:
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in _READERS:
            meant = did_you_mean(name.replace("_", "-"), _READERS)
            raise InvalidInput(f"`{path}`: {TABLE} has no setting `{name}`{meant}")
        try:
            values[name.replace("-", "_")] = _READERS[name](value)
        except InvalidInput as error:
            raise InvalidInput(f"`{path}`: {name} in {TABLE} {error}") from None
    return Settings(path, **values)


def unknown_kind(names: Iterable[str]) -> str | None:
    """A remark on the first name that is neither a cause nor a verdict; None where all are."""
    known = [*names_of_causes(), *(str(verdict) for verdict in Verdict)]
    for name in sorted(map(str, names)):
        if name not in known:
            meant = did_you_mean(name, known)
            return f"`{name}`, which is no cause (`gradproof explain` lists them) and no verdict{meant}"
    return None


def _fail_on(value: Any) -> FailOn:
    if value not in get_args(FailOn):
        raise InvalidInput(f"is one of {', '.join(get_args(FailOn))}; it was {value!r}")
    return cast(FailOn, value)


def _checks(value: Any) -> str:
    try:
        parse_checks(value)
    except InvalidInput:
        raise InvalidInput(
            f"is `powers`, `all`, `first`, or a list such as `1,5,20`; it was {value!r}"
        ) from None
    return str(value)


def _budget(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise InvalidInput(f"is a number of seconds; it was {value!r}")
    return float(value)


def _accept(value: Any) -> tuple[str, ...]:
    names = _texts(value)
    unknown = unknown_kind(names)
    if unknown is not None:
        raise InvalidInput(f"names {unknown}")
    return names


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidInput(f"is a list of texts; it was {value!r}")
    return tuple(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "fail-on": _fail_on,
    "checks": _checks,
    "budget": _budget,
    "accept": _accept,
    "exclude": _texts,
}
