"""Every text can be written to every stream."""

from __future__ import annotations

import pytest

from gradproof.causes import causes
from gradproof.diagnosis.words import columns
from gradproof.render.encoding import encodable
from gradproof.render.explain import explain
from gradproof.render.to_text import to_text
from tests.render.reports import RICH


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", None])
def test_an_encoding_with_all_signs_changes_nothing(encoding: str | None) -> None:
    text = to_text(RICH, detail="verbose")
    assert "█" in text
    assert encodable(text, encoding) == text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "koi8-r"])
def test_an_encoding_that_lacks_some_gets_plain_signs_of_the_same_width(encoding: str) -> None:
    text = to_text(RICH, detail="verbose", width=60)
    plain = encodable(text, encoding)
    plain.encode(encoding)
    assert [columns(line) for line in plain.splitlines()] == [columns(line) for line in text.splitlines()]
    assert "?" not in plain.replace("?", "", text.count("?"))


def test_bars_and_cuts_keep_their_meaning() -> None:
    assert encodable("██▌  50 %", "ascii") == "###  50 %"
    assert encodable("█▏ 6 %", "ascii") == "#  6 %"
    assert encodable("a_long_n…me", "latin-1") == "a_long_n~me"
    assert encodable("0.5 ± 0.1", "ascii") == "0.5 +- 0.1"
    assert encodable("变量", "ascii") == "??"


@pytest.mark.parametrize("cause", causes(), ids=lambda cause: cause.name)
def test_every_explanation_is_readable_in_ascii(cause: object) -> None:
    assert "?" not in encodable(explain(cause, width=80, colour=False), "ascii").replace("? ", "")
