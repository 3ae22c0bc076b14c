"""The user's file at a place, and a framework's words as that file has them."""

from __future__ import annotations

from dataclasses import dataclass

from gradproof.diagnosis.case import Case
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.fixes.spelling import alias_of
from gradproof.frameworks import Framework, framework
from gradproof.ir.span import Span


@dataclass(frozen=True, eq=False)
class UsersFile:
    """`alias` is the name under which the file has imported the framework."""

    source: ParsedSource
    language: Framework
    alias: str

    def worded(self, text: str) -> str:
        """A text of the framework's, with the file's own name for it."""
        return text.replace(f"{self.language.alias}.", f"{self.alias}.")


def file_at(case: Case, place: Span | None) -> UsersFile | None:
    """None without its text, and where it has not imported the framework."""
    source = None if place is None else parsed(case.sources.get(place.file, ""))
    language = framework(case.capture.framework)
    alias = None if source is None else alias_of(source.tree, language.name)
    return None if source is None or alias is None else UsersFile(source, language, alias)
