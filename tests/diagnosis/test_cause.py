"""The five headings of a cause's docstring, and what is refused."""

import pytest

from gradproof.diagnosis.cause import HEADINGS, Cause
from gradproof.errors import InvalidInput

DOC = "The first line.\n\n" + "\n".join(f"{heading}\n    text of {heading}\n" for heading in HEADINGS)


def cause(doc: str) -> Cause:
    return Cause("kink", lambda case: (), doc)


def test_every_heading_has_its_text() -> None:
    documentation = cause(DOC).documentation
    assert documentation.title == "The first line."
    assert documentation.sections == tuple((heading, f"text of {heading}") for heading in HEADINGS)
    assert documentation.silent == "text of Stays silent when"


def test_an_indented_docstring_is_read_alike() -> None:
    indented = "The first line.\n" + "\n".join("    " + each for each in DOC.splitlines()[1:])
    assert cause(indented).documentation == cause(DOC).documentation


def test_code_keeps_its_relative_indentation() -> None:
    doc = DOC.replace("text of Example", "if x:\n        y")
    assert cause(doc).documentation.example == "if x:\n    y"


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_lacking_heading_is_refused(heading: str) -> None:
    doc = DOC.replace(f"{heading}\n    text of {heading}\n", "")
    with pytest.raises(InvalidInput, match="cause `kink` must have the headings"):
        _ = cause(doc).documentation


def test_an_empty_heading_is_refused() -> None:
    with pytest.raises(InvalidInput, match="says nothing under the heading `Example`"):
        _ = cause(DOC.replace("    text of Example\n", "")).documentation


def test_headings_in_another_order_are_refused() -> None:
    doc = DOC.replace("Example", "@").replace("Write instead", "Example").replace("@", "Write instead")
    with pytest.raises(InvalidInput, match="in this order"):
        _ = cause(doc).documentation


def test_a_docstring_without_a_first_line_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no first line"):
        _ = cause("").documentation
