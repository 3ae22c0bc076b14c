"""Markup that escapes by itself: what is not marked as markup is text, whoever wrote it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import Any

from gradproof.diagnosis.words import printable

_VOID = frozenset({"meta", "input", "br", "col", "wbr"})
_CODE = re.compile(r"`([^`]+)`")


class Html(str):
    """Characters that are markup already. Only this file and constants make them from plain strings."""

    __slots__ = ()


def text(value: str) -> Html:
    """Text as markup: nothing in it is understood as a tag, and no mark turns the reading order round."""
    return Html(html.escape(printable(value)))


def tag(name: str, /, *children: str | None, **attributes: str | int | float | bool | None) -> Html:
    """An element. Plain strings among the children are text; attributes that are None or False are left out.

    `class_` stands for `class`, and `data_x` for `data-x`.
    """
    opening = name + "".join(
        _attribute(key, value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{join(children)}</{name}>")


def join(parts: Iterable[str | None], between: str = "") -> Html:
    """Parts one after another, the plain strings among them as text."""
    shown = (part if isinstance(part, Html) else text(part) for part in parts if part is not None)
    return Html(text(between).join(shown))


def path(value: str) -> Html:
    """A name that may be broken after each of its slashes."""
    first, *rest = value.split("/")
    return join([first, *(join(["/", tag("wbr"), part]) for part in rest)])


def prose(value: str) -> Html:
    """A sentence in which `code` stands between backticks."""
    parts = _CODE.split(value)
    return join(tag("code", part) if k % 2 else part for k, part in enumerate(parts))


def plain_words(value: str) -> str:
    """The same sentence where no element can stand, as in a drawing."""
    return value.replace("`", "")


def data_block(id: str, value: Any) -> Html:
    """Data for the page's script. `<` is written as an escape, so that no string in it can end the element."""
    dumped = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    safe = dumped.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Html(f'<script type="application/json" id="{html.escape(id)}">{safe}</script>')


def _attribute(key: str, value: str | int | float | bool) -> str:
    called = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {called}"
    return f' {called}="{text(str(value))}"'
