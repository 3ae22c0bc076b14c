"""The captured program as a graph: what is drawn, marked, opened and found."""

from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.render import pictures
from tests.render.html.conftest import Opened
from tests.render.html.pictured import N_OPS, large_report
from tests.render.reports import BY_VERDICT


def graph_of(page: Page, selector: str = ".graph") -> Locator:
    graph = page.locator(selector).first
    graph.scroll_into_view_if_needed()
    expect(graph).to_have_attribute("data-ready", "true")
    return graph


def test_a_small_program_shows_every_op_with_its_value_and_marks_the_path_of_the_fault(
    opened: Opened,
) -> None:
    graph = graph_of(opened(BY_VERDICT["inaccurate"]))
    assert graph.locator(".box").count() == 11
    assert graph.locator(".box.guilty").count() == 4
    assert graph.locator(".edge.guilty").count() == 3
    expect(graph.get_by_role("option", name="sub, 0.0, on the path of the fault")).to_be_visible()


def test_boxes_do_not_overlap(opened: Opened) -> None:
    graph = graph_of(opened(large_report()))
    graph.locator(".open-all").click()
    boxes = graph.locator(".box").evaluate_all(
        "all => all.map((e) => e.querySelector('rect').getBoundingClientRect())"
    )
    assert len(boxes) > 10
    for k, one in enumerate(boxes):
        for other in boxes[:k]:
            apart = one["x"] >= other["x"] + other["width"] or other["x"] >= one["x"] + one["width"]
            assert apart or one["y"] >= other["y"] + other["height"] or other["y"] >= one["y"] + one["height"]


def test_a_click_shows_what_is_known_about_an_op(opened: Opened) -> None:
    graph = graph_of(opened(BY_VERDICT["inaccurate"]))
    graph.get_by_role("option", name="add, 1.0e10").click()
    side = graph.locator(".side")
    for words in (
        "1.0e10",
        "float32",
        "cancellation_tf.py:5",
        "100 % of the error",
        "on the path of the fault",
    ):
        expect(side).to_contain_text(words)
    side.get_by_role("button", name="sub 0.0").click()
    expect(side.locator("h4")).to_have_text("sub")
    assert (
        graph.locator("[aria-selected=true]").get_attribute("aria-label")
        == "sub, 0.0, on the path of the fault"
    )


def test_arrow_keys_follow_the_edges(opened: Opened) -> None:
    graph = graph_of(opened(BY_VERDICT["inaccurate"]))
    canvas = graph.locator(".canvas")
    canvas.focus()
    heading = graph.locator(".side h4")
    canvas.press("ArrowDown")
    expect(heading).to_have_text("add")
    canvas.press("ArrowDown")
    expect(heading).to_have_text("sub")
    canvas.press("ArrowUp")
    expect(heading).to_have_text("add")
    canvas.press("ArrowRight")
    active = canvas.get_attribute("aria-activedescendant")
    assert graph.locator(f"#{active}").get_attribute("aria-selected") == "true"


def test_a_line_opens_and_closes_by_mouse_and_by_keyboard(opened: Opened) -> None:
    graph = graph_of(opened(large_report()))
    closed = graph.get_by_role("option", name="model.py:21")
    expect(closed.first).to_be_visible()
    before = graph.locator(".box.line-group").count()
    closed.first.click()
    expect(graph.get_by_role("option", name="matmul h28")).to_be_visible()
    canvas = graph.locator(".canvas")
    canvas.press("Enter")
    expect(graph.locator(".box.line-group")).to_have_count(before)


def test_only_what_is_in_the_window_is_drawn(opened: Opened) -> None:
    graph = graph_of(opened(large_report()))
    graph.locator(".constants").check()
    graph.locator(".open-all").click()
    assert graph.locator(".box").count() < 400
    canvas = graph.locator(".canvas")
    first = graph.locator(".box").first.get_attribute("id")
    canvas.evaluate("(e) => { e.scrollTop = e.scrollHeight; }")
    expect(graph.locator(f"#{first}")).to_have_count(0)
    assert 0 < graph.locator(".box").count() < 400


@pytest.mark.parametrize("words", ["h4321", "model.py:33"])
def test_the_search_finds_ops_wherever_they_are(opened: Opened, words: str) -> None:
    graph = graph_of(opened(large_report()))
    graph.locator(".find").fill(words)
    expect(graph.locator(".found")).to_contain_text("found")
    graph.locator(".side li button").first.click()
    expect(graph.locator("[aria-selected=true]")).to_be_visible()
    expect(graph.locator(".side")).to_contain_text(words)


def test_five_thousand_ops_are_laid_out_in_under_two_seconds(opened: Opened) -> None:
    graph = graph_of(opened(large_report()))
    spent = graph.locator(".open-all").evaluate(
        "(button) => { const start = performance.now(); button.click(); return performance.now() - start; }"
    )
    assert spent < 2000  # milliseconds; about 400 with one busy core
    expect(graph.locator(".box").first).to_be_visible()


def test_without_the_graph_a_table_says_the_same_by_source_line(opened: Opened) -> None:
    page = opened(large_report())
    table = page.locator("table.by-line")
    assert table.locator("tbody tr").count() == 21
    counted = [int(cell) for cell in table.locator("tbody td:nth-child(2)").all_text_contents()]
    assert sum(counted) == N_OPS


def test_of_several_programs_one_is_shown_and_the_others_can_be_chosen(opened: Opened) -> None:
    report = BY_VERDICT["inaccurate"]
    later = replace(pictures.CANCELLATION, program=replace(pictures.PROGRAM))
    again = replace(report.gradients[0], occurrence=2, drawing=lambda: later)
    page = opened(replace(report, gradients=(*report.gradients, again)))
    shown = page.locator(".program:visible")
    assert page.locator(".program").count() == 2
    assert page.locator("#programs option").all_inner_texts()[1].startswith("cancellation_tf.py:7, 2nd run: ")
    expect(shown).to_have_attribute("id", "p0")
    page.locator("#programs").select_option("p1")
    expect(shown).to_have_attribute("id", "p1")
    graph_of(page, "#p1 .graph")
    page.evaluate("() => { location.hash = '#p0'; }")
    expect(shown).to_have_attribute("id", "p0")
    expect(page.locator("#programs")).to_have_value("p0")


def test_on_paper_the_whole_graph_is_drawn_though_nobody_scrolled_to_it(opened: Opened) -> None:
    page = opened(large_report(), height=300)
    assert page.locator(".box").count() == 0
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    boxes, width = page.evaluate(
        """() => [document.querySelectorAll(".box").length,
                  document.querySelector(".canvas svg").getBoundingClientRect().width]"""
    )
    assert boxes > 20
    assert 0 < width <= 1280
    everything = page.locator(".box").count()
    page.emulate_media(media="screen")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.locator(".box").count() <= everything
