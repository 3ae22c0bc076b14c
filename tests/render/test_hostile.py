"""Files that are no report, or a forged one: a clear error or a harmless rendering, nothing else."""

import copy
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from gradproof.errors import UnreadableReport
from gradproof.render.from_json import from_document, from_json
from gradproof.render.schema import schema, violations
from gradproof.render.to_html import to_html
from gradproof.render.to_json import to_document, to_json
from gradproof.render.to_text import to_text
from tests.nightly import SMALL_AND_LARGE
from tests.render.reports import RICH

ESCAPES = "\x1b[2J\u202e"
INTRUDERS: list[Any] = [None, True, -1, 0, 10**400, 1e308, -0.5, "", "nan", ESCAPES, [], [[1], 2], {}]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no JSON at line 1, column 1"),
        ("{", "no JSON at line 1"),
        (b"\xff\xfe\x00\x80", "the file is not text in UTF-8"),
        ("[" * 100_000, "nested too deeply"),
        ("[1]", "the document: must be of type object"),
        ("{}", "lacks the field `schema`"),
        ('{"schema": 2}', "format version 2; this gradproof reads up to 1"),
        ('{"schema": 1, "gradproof": NaN}', "NaN stands there"),
        ('{"schema": ' + "9" * 5000 + "}", "not a gradproof report"),
    ],
)
def test_what_is_no_report_is_refused_with_the_reason(text: str | bytes, complaint: str) -> None:
    with pytest.raises(UnreadableReport) as caught:
        from_json(text)
    assert complaint in str(caught.value)


def test_the_complaint_names_the_place() -> None:
    document = to_document(RICH)
    document["gradients"][2]["verdict"] = "fine"
    with pytest.raises(UnreadableReport, match=r"gradients\[2\]\.verdict: must be one of correct, .* 'fine'"):
        from_document(document)


def test_the_complaint_about_a_field_that_may_be_null_speaks_of_what_is_in_it() -> None:
    document = to_document(RICH)
    document["gradients"][1]["causes"][0]["fix"]["patch"] = 7
    with pytest.raises(UnreadableReport, match=r"causes\[0\]\.fix\.patch: must be of type string, but is 7"):
        from_document(document)


def test_the_complaint_itself_carries_nothing_into_the_terminal() -> None:
    document = to_document(RICH)
    document["sources"]["\x1b[2J"] = 7
    with pytest.raises(UnreadableReport, match="must be of type string") as caught:
        from_document(document)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("slice", "computed_slope"), [1.0], r"slice\.computed_slope: has 1 numbers, and `t` has 9"),
        (
            ("slice", "t"),
            [0.0, 1.0, 2.0, 1.5, 3.0, 4.0, 5.0, 6.0, 7.0],
            r"slice\.t: must be finite and ascend",
        ),
        (("steps", "steps"), ["nan", 1.0, 2.0, 3.0, 4.0], r"steps\.steps: must be finite and ascend"),
        (("steps", "usable"), [1.0], r"steps\.usable: must have 2 items, but has 1"),
        (("program",), 1, r"program: there are 1 programs, and none has the number 1"),
        (("shares",), [{"node": -1, "share": 0.5}], r"shares\[0\]\.node: must be between 0"),
        (("lacking",), {"slice": None}, r"lacking\.slice: must be of type string"),
    ],
)
def test_pictures_that_cannot_be_drawn_are_refused(path: tuple[str, ...], value: Any, complaint: str) -> None:
    document = replaced(json.loads(to_json(RICH)), ("gradients", 1, "figures", *path), value)
    with pytest.raises(UnreadableReport, match=r"gradients\[1\]\.figures\." + complaint):
        from_document(document)


def test_a_program_that_refers_to_nothing_is_refused() -> None:
    original = json.loads(to_json(RICH))
    document = replaced(original, ("programs", 0, "nodes", 1, "span"), 99)
    with pytest.raises(
        UnreadableReport, match=r"programs\[0\]\.nodes\[1\]\.span: there are 3 spans, and none"
    ):
        from_document(document)
    document = replaced(original, ("programs", 0, "nodes", 1, "id"), 0)
    with pytest.raises(UnreadableReport, match=r"programs\[0\]\.nodes: two of them have the same id"):
        from_document(document)


def test_rows_of_different_lengths_are_refused() -> None:
    document = to_document(RICH)
    document["gradients"][0]["observed"] = [[1.0, 2.0], [3.0]]
    with pytest.raises(UnreadableReport, match="rows of different lengths"):
        from_document(document)


def test_a_deeply_nested_array_is_refused() -> None:
    document = json.loads(to_json(RICH))
    nested: Any = 1.0
    for _ in range(300):
        nested = [nested]
    document["gradients"][0]["observed"] = nested
    with pytest.raises(UnreadableReport, match="nested more than"):
        from_document(document)


@pytest.mark.parametrize("axes", [33, 64])
def test_an_array_of_many_axes_is_rendered(axes: int) -> None:
    read = from_document(with_axes(axes))
    assert read.gradients[0].entry_table is not None
    assert len(read.gradients[0].entry_table.worst[0].index) == axes
    for render in (partial(to_text, detail="verbose"), to_html, to_json):
        assert render(read)


def test_an_array_of_more_axes_than_numpy_has_is_refused() -> None:
    with pytest.raises(UnreadableReport, match=r"gradients\[0\]\.observed: more than 64 axes"):
        from_document(with_axes(65))


def with_axes(axes: int) -> Any:
    nested: Any = 1.5
    for _ in range(axes):
        nested = [nested]
    document = json.loads(to_json(RICH))
    document["gradients"][0]["source"]["shape"] = [1] * axes
    return document["gradients"][0].update(dict.fromkeys(("observed", "reference"), nested)) or document


Path = tuple[Any, ...]


def forgeries(document: Any, is_large: bool) -> Iterator[tuple[Path, Any]]:
    """A place in a document and what to put there: every intruder at every kind of place, and escapes at each place.

    The large size has every intruder at each place.
    """
    for alike in places(document)[1:]:
        for k, intruder in enumerate(INTRUDERS):
            everywhere = is_large or intruder == ESCAPES
            yield from ((path, intruder) for path in (alike if everywhere else [alike[k % len(alike)]]))


def places(document: Any) -> list[list[Path]]:
    """The way to every value, by kind; of those that differ only by their number in lists, the first three."""
    by_kind: dict[Path, list[Path]] = {}
    for path in _all_places(document, ()):
        by_kind.setdefault(tuple("*" if isinstance(key, int) else key for key in path), []).append(path)
    return [alike[:3] for alike in by_kind.values()]


def _all_places(document: Any, path: Path) -> Iterator[Path]:
    yield path
    if isinstance(document, dict | list):
        items = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in items:
            yield from _all_places(value, (*path, key))


@pytest.mark.parametrize("is_large", SMALL_AND_LARGE)
def test_whatever_is_put_in_whatever_place_is_refused_or_rendered(is_large: bool) -> None:
    original = json.loads(to_json(RICH))
    n_refused = n_rendered = 0
    for path, intruder in forgeries(original, is_large):
        document = replaced(original, path, intruder)
        try:
            report = from_document(document)
        except UnreadableReport:
            n_refused += 1
            continue
        text = to_text(report, detail="verbose") + to_text(report, detail="concise")
        assert "\x1b" not in text
        assert "\u202e" not in text
        n_rendered += 1
    assert n_refused > 1000
    assert n_rendered > 500


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with one value exchanged, copied only along the way to it."""
    if not path:
        return value
    changed = copy.copy(document)
    changed[path[0]] = replaced(document[path[0]], path[1:], value)
    return changed


def test_every_required_field_that_lacks_is_named() -> None:
    original = to_document(RICH)
    for key in schema()["required"]:
        document = {k: v for k, v in original.items() if k != key}
        assert list(violations(document)) == [f"the document: lacks the field `{key}`"]


def test_fields_of_later_releases_are_ignored() -> None:
    document = to_document(RICH)
    document["colour"] = {"of": ["the", "sky"]}
    document["gradients"][0]["mood"] = "calm"
    assert to_text(from_document(document)) == to_text(RICH)


def test_a_boolean_is_no_number() -> None:
    document = to_document(RICH)
    document["gradients"][0]["line"] = document["schema"] = True
    assert list(violations(document)) == [
        "schema: must be 1, but is True",
        "gradients[0].line: must be of type integer, but is True",
    ]


def test_the_schema_is_a_json_document_that_names_its_dialect() -> None:
    assert json.loads(json.dumps(schema())) == schema()
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
