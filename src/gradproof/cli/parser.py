"""The parser of the command line, which says what was probably meant."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from gradproof.errors import did_you_mean


class Parser(argparse.ArgumentParser):
    """As Python's own, but a word that it does not know is answered with the one that is like it."""

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        given, rest = self.parse_known_args(args, namespace)
        if rest:
            option = rest[0].partition("=")[0]
            known = [text for action in self._actions for text in action.option_strings]
            self.error(f"unrecognized arguments: {' '.join(rest)}{did_you_mean(option, known)}")
        return given

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            choices = map(str, action.choices or ())
            raise argparse.ArgumentError(
                action, f"{error.message}{did_you_mean(str(value), choices)}"
            ) from None
