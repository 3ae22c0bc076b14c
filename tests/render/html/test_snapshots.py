"""The markup of the pages, kept beside the tests; styles and scripts have tests of their own."""

import re

import pytest

from gradproof.diagnosis.report import Report
from gradproof.render.to_html import to_fragment, to_html
from tests.render.reports import BY_VERDICT, RICH
from tests.render.snapshot import assert_snapshot


def body(html: str) -> str:
    """The elements one per line, without the style sheet, the script and its hash."""
    html = re.sub(r"<style>.*?</style>", "<style></style>", html, flags=re.S)
    html = re.sub(r"<script>.*?</script>", "<script></script>", html, flags=re.S)
    html = re.sub(r"sha256-[\w+/=]*", "sha256-", html)
    return re.sub(
        r"(</(?:p|h\d|tr|div|li|section|article|details|summary|figure|option|path|line)>)", r"\1\n", html
    )


@pytest.mark.parametrize(("name", "report"), [("rich", RICH), *BY_VERDICT.items()])
def test_a_page_is_as_it_was(name: str, report: Report) -> None:
    assert_snapshot(f"{name}.html", body(to_html(report)))


def test_a_fragment_is_as_it_was() -> None:
    assert_snapshot("rich_fragment.html", body(to_fragment(RICH)))


def test_the_same_report_makes_the_same_page() -> None:
    assert to_html(RICH) == to_html(RICH)


def test_a_report_without_anything_says_so() -> None:
    html = to_html(Report(()))
    assert "no gradient was seen, so none was checked" in html
    assert "No gradient was computed." in html
