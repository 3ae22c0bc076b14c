"""Names, sources and values that try to become markup or to run."""

import json
from pathlib import Path

import pytest

from gradproof.errors import UnreadableReport
from gradproof.render.from_json import from_document, from_json
from gradproof.render.to_html import to_fragment, to_html
from gradproof.render.to_json import to_json
from tests.nightly import SMALL_AND_LARGE
from tests.render.html.conftest import Opened
from tests.render.html.pictured import HOSTILE, hostile_report
from tests.render.reports import RICH
from tests.render.test_hostile import forgeries, replaced


def test_nothing_a_report_holds_is_run_or_becomes_an_element(opened: Opened) -> None:
    page = opened(hostile_report())
    page.evaluate("() => { for (const d of document.querySelectorAll('details')) d.open = true; }")
    page.locator(".graph").scroll_into_view_if_needed()
    page.locator(".graph .box").first.click()
    for link in page.locator("a").all():
        assert (link.get_attribute("href") or "").startswith("#")
    assert page.evaluate("() => window.broken") is None
    assert page.locator("img").count() == 0
    assert page.locator("script:not([type='application/json'])").count() == 1
    assert "</script><script>" in (page.locator("h1").text_content() or "") + (
        page.locator(".graph .side").text_content() or ""
    )


@pytest.mark.parametrize("is_large", SMALL_AND_LARGE)
def test_whatever_is_forged_in_a_saved_report_is_refused_or_becomes_a_page(is_large: bool) -> None:
    original = json.loads(to_json(RICH))
    n_pages = 0
    for path, intruder in forgeries(original, is_large):
        if intruder is None or isinstance(intruder, bool | list | dict):
            continue  # numbers and strings alone: the others are refused
        try:
            report = from_document(replaced(original, path, intruder))
        except UnreadableReport:
            continue
        page = to_html(report)
        assert "\x1b" not in page
        assert "\u202e" not in page
        n_pages += 1
    assert n_pages > 300


def test_a_saved_report_makes_the_page_that_the_run_made() -> None:
    # The numbers of a large gradient are summarised in JSON, and so is what the page shows of it.
    assert to_html(from_json(to_json(RICH))) == to_html(RICH)


def test_marks_that_reverse_the_reading_order_are_replaced() -> None:
    assert "\u202e" in HOSTILE
    assert "\u202e" not in to_html(hostile_report())
    assert "\u202e" not in to_fragment(hostile_report())


def test_the_policy_of_the_page_stops_a_script_that_slipped_through(opened: Opened, tmp_path: Path) -> None:
    html = to_html(hostile_report()).replace("</main>", "<script>window.broken = true</script></main>")
    file = tmp_path / "slipped.html"
    file.write_text(html, encoding="utf-8")
    page = opened.file(file)
    assert page.evaluate("() => window.broken") is None
    refused = [complaint for complaint in opened.complaints if "Content Security Policy" in complaint]
    assert len(refused) == 1
    opened.complaints.clear()  # that the browser refused it is what was wanted


@pytest.mark.parametrize("render", [to_html, to_fragment])
def test_no_address_of_a_network_stands_in_the_page(render: object) -> None:
    html = render(hostile_report())  # type: ignore[operator]
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in html


def test_a_fragment_holds_no_script_and_no_element_of_the_report(opened: Opened, tmp_path: Path) -> None:
    file = tmp_path / "cell.html"
    file.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><body>{to_fragment(hostile_report())}", encoding="utf-8"
    )
    page = opened.file(file)
    assert page.evaluate("() => window.broken") is None
    assert page.locator("script, img, a").count() == 0
