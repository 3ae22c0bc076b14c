"""Text for streams whose encoding lacks some of its signs: another sign in their place, never a traceback."""

from __future__ import annotations

# What means the same in plain ASCII. One column for one where lines have to keep their width.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("█▉▊▋▌", "#"),
        **dict.fromkeys("▍▎▏", " "),  # less than half a column of a bar
        "…": "~",
        "±": "+-",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{MIDDLE DOT}": "*",
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{REPLACEMENT CHARACTER}": "?",
    }
)


def encodable(text: str, encoding: str | None) -> str:
    """The text as it is if the encoding has all its signs; else with plain signs, and `?` for those without one."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text
