"""The name that was probably meant, as a remark."""

from __future__ import annotations

from collections.abc import Iterable


def similar(name: str, known: Iterable[str], noun: str = "one") -> str:
    """`; there is one with a similar name: kink`; empty where nothing is like it."""
    from difflib import get_close_matches  # only where a name was not found

    close = get_close_matches(name, list(known), 1)
    return f"; there is {noun} with a similar name: {close[0]}" if close else ""
