"""The page in a real browser: what it says, and what it does when it is used."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from gradproof.diagnosis.figures import Figures, ModeRow
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import framework_name
from gradproof.judge.verdict import Verdict
from gradproof.render.sentence import name
from gradproof.render.summary_text import last_line
from tests.render.html.conftest import Opened
from tests.render.html.pictured import large_report, many_gradients, trained
from tests.render.reports import BY_VERDICT, F32, RICH
from tests.render.reports import gradient as made

# The same without its 10th execution: then verdict and digits have a column each, and every call a single row.
ONE_RUN = replace(RICH, gradients=tuple({g.call: g for g in RICH.gradients if g.occurrence == 1}.values()))


def rows(page: Page, column: int) -> list[str]:
    """The cells of one column of the rows that are shown, from top to bottom."""
    return page.evaluate(
        """(column) => [...document.querySelectorAll("#table tr[data-verdicts]")]
          .filter((row) => !row.hidden)
          .map((row) => row.cells[column]?.innerText.trim() ?? "")""",
        column,
    )


@pytest.mark.parametrize("verdict", BY_VERDICT)
def test_a_page_begins_with_the_verdict_and_what_to_fix_first(opened: Opened, verdict: str) -> None:
    report = BY_VERDICT[verdict]
    page = opened(report)
    said = last_line(report).removeprefix("gradproof: ").replace("`", "")
    heading = (page.locator("h1").text_content() or "").removesuffix(".")
    assert said.startswith(heading)
    assert ("fix first" in said) == (page.locator(".first").count() == 1)
    if "fix first" in said:
        expect(page.locator(".first")).to_contain_text(said.split("): ", 1)[1])
    assert verdict in rows(page, 1)[0]


def test_everything_a_report_holds_is_on_the_page(opened: Opened) -> None:
    text = opened(RICH).locator("body").text_content() or ""
    wanted = [name(gradient) for gradient in RICH.gradients]
    wanted += [framework_name(key) for key in RICH.frameworks]
    wanted += [*RICH.notes] + [row.reason for row in RICH.unchecked]
    assert RICH.script is not None
    wanted += [RICH.script.path, RICH.script.exception or ""]
    for diagnostic in RICH.diagnostics:
        wanted += [diagnostic.headline, diagnostic.why, *diagnostic.notes, *sum(diagnostic.evidence, ())]
        if diagnostic.fix is not None:
            wanted += [diagnostic.fix.text, diagnostic.fix.checked, diagnostic.fix.changes_meaning]
        if diagnostic.primary is not None and diagnostic.primary.span.file in RICH.sources:
            wanted += [each.label for each in (diagnostic.primary, *diagnostic.secondary)]
    for gradient in RICH.gradients:
        if gradient.figures is not None:
            wanted += [*gradient.figures.lacking.values(), *(row.value for row in gradient.figures.modes)]
    missing = [each for each in wanted if each.replace("`", "") not in text]
    assert missing == []


def test_a_diagnostic_stands_below_the_line_it_blames(opened: Opened) -> None:
    page = opened(BY_VERDICT["inaccurate"])
    order = page.evaluate(
        "() => [...document.querySelector('.listing').children].map((e) => e.id || e.className)"
    )
    at = order.index("f0L6")
    assert order[at + 1].startswith("label primary")
    assert order[at + 2] == "d0"
    assert order[order.index("f0L5") + 1].startswith("label secondary")


def test_labels_begin_below_their_columns(opened: Opened) -> None:
    page = opened(BY_VERDICT["inaccurate"])
    first, last = (
        page.locator(".mark-primary").first.bounding_box(),
        page.locator(".mark-primary").last.bounding_box(),
    )
    drawn = page.locator(".label.primary span").first.bounding_box()
    assert first is not None and last is not None and drawn is not None
    assert abs(first["x"] - drawn["x"]) < 1.5
    assert abs(last["x"] + last["width"] - drawn["x"] - drawn["width"]) < 3


def test_the_heat_beside_a_line_is_its_share_of_the_error(opened: Opened) -> None:
    page = opened(BY_VERDICT["inaccurate"])
    expect(page.locator("#f0L5 .heat")).to_have_text("75 %")
    expect(page.locator("#f0L7 .heat")).to_have_text("25 %")
    expect(page.locator("#f0L1 .heat")).to_have_text("")


def test_the_budget_of_another_gradient_can_be_chosen(opened: Opened) -> None:
    page = opened(large_report())
    page.locator("#budget").select_option(index=1)
    expect(page.locator("#f0L20 .heat")).to_have_text("5 %")
    assert "matmul" in (page.locator("#f0L20 .heat").get_attribute("title") or "")


def test_the_line_of_a_gradient_is_named_also_where_its_source_is_not_known(opened: Opened) -> None:
    assert "train.py:12" in rows(opened(RICH), 2)


def test_a_gradient_call_shows_what_became_of_it(opened: Opened) -> None:
    page = opened(BY_VERDICT["missing"])
    page.locator("#f0L6 .calls a").click()
    expect(page.locator("#g0")).to_be_in_viewport()
    expect(page.locator("#f0L6 .calls")).to_have_text("1 ∅ missing")


def test_a_mode_is_marked_only_where_it_has_a_digit_less(opened: Opened) -> None:
    modes = (
        ModeRow("eager", "float32", "1.0000001", 7.2),
        ModeRow("as a graph", "float32", "1.0000002", 6.9),
        ModeRow("under XLA", "float32", "1.1", 1.0),
        ModeRow("eager", "float16", "1.0", 3.0),
    )
    report = BY_VERDICT["correct"]
    pictured = replace(report.gradients[0], drawing=lambda: Figures(modes=modes))
    page = opened(replace(report, gradients=(pictured,)))
    assert page.locator("tr.differs").all_inner_texts() == ["under XLA\tfloat32\t1.1\t1.0"]


def test_a_click_on_a_heading_sorts_and_a_second_reverses(opened: Opened) -> None:
    page = opened(ONE_RUN)
    before = rows(page, 0)
    head = page.locator("#table .col-gradient")
    head.get_by_role("button").click()
    ascending = rows(page, 0)
    assert ascending != before
    assert ascending == sorted(before, key=str.lower)
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").click()
    assert rows(page, 0)[0] == ascending[-1]
    assert head.get_attribute("aria-sort") == "descending"


def test_the_keyboard_sorts_by_digits_and_what_is_unknown_comes_last(opened: Opened) -> None:
    page = opened(ONE_RUN)
    page.locator("#table .col-digits button").focus()
    page.keyboard.press("Enter")
    digits = rows(page, 2)
    known = [float(cell.split(" of ")[0]) / float(cell.split(" of ")[1]) for cell in digits if cell]
    assert known == sorted(known)
    assert all(not cell for cell in digits[len(known) :])


def test_the_executions_of_a_call_are_columns_of_one_table(opened: Opened) -> None:
    page = opened(trained())
    heads = page.locator("#table .call").all_inner_texts()
    assert [" ".join(head.split()) for head in heads] == [
        "Call at step.py:7 1st run 2nd run 10th run",
        "Call at step.py:9 1st run",
    ]
    assert rows(page, 0) == ["d loss / d kernel", "d loss / d bias", "d penalty / d kernel"]
    assert [cell.split()[1] for cell in rows(page, 3)[:2]] == ["correct", "correct"]
    assert [cell.split()[1] for cell in rows(page, 5)[:2]] == ["inaccurate", "correct"]
    expect(page.locator("#shown")).to_have_text("7 gradients")
    page.locator("#table tr[data-verdicts]").first.locator("td:nth-child(6) a").click()
    expect(page.locator("#g4")).to_be_in_viewport()
    page.locator(".counts button[data-verdict=inaccurate]").click()
    assert rows(page, 0) == ["d loss / d kernel"]
    expect(page.locator("#shown")).to_have_text("1 of 7 gradients")
    expect(page.locator("#table .call").last).to_be_hidden()


def test_rows_stay_with_their_call_when_they_are_sorted(opened: Opened) -> None:
    page = opened(trained())
    page.locator("#table .col-gradient button").click()
    assert rows(page, 0) == ["d loss / d bias", "d loss / d kernel", "d penalty / d kernel"]
    page.locator("#table .col-gradient button").click()
    assert rows(page, 0) == ["d penalty / d kernel", "d loss / d kernel", "d loss / d bias"]
    first = page.locator("#table tr").nth(1)
    expect(first).to_contain_text("Call at step.py:9")


def test_many_executions_that_say_the_same_share_a_column(opened: Opened) -> None:
    page = opened(trained(last=40))
    heads = page.locator("#table .call").first.locator("th").all_inner_texts()
    assert heads[1:] == ["1st to 39th run", "40th run"]


def test_executions_with_other_gradients_each_time_are_rows(opened: Opened) -> None:
    steps = [made(Verdict.CORRECT, source=f"w{run}", occurrence=run, digits=F32) for run in range(1, 9)]
    page = opened(Report(tuple(steps)))
    assert rows(page, 0)[:2] == ["d loss / d w1", "d loss / d w2 (2nd run)"]
    assert page.locator("#table.by-run").count() == 0


def test_faults_are_numbered_by_importance_above_and_in_the_source(opened: Opened) -> None:
    page = opened(RICH)
    numbers = page.locator("#overview .finding").all_inner_texts()
    assert numbers == [str(k + 1) for k in range(len(numbers))]
    assert len(numbers) > 2
    for item in page.locator(".next li").all():
        headline, target = item.locator("a").first.inner_text(), item.locator("a").first.get_attribute("href")
        assert target is not None
        expect(page.locator(f"{target} h3")).to_contain_text(headline)
        expect(page.locator(f"{target} h3 .finding")).to_have_text(item.locator(".finding").inner_text())


def test_words_and_verdicts_filter_the_table(opened: Opened) -> None:
    page = opened(RICH)
    page.get_by_label("Find", exact=False).first.fill("KERNEL")
    assert rows(page, 0) == ["d loss / d sequential/dense/kernel"]
    expect(page.locator("#shown")).to_have_text("1 of 12 gradients")
    page.locator("#find").fill("")
    page.locator("#show").select_option("unverified")
    assert rows(page, 3) == ["? unverified", "? unverified"]


def test_a_count_shows_only_its_verdict_and_gives_way_again(opened: Opened) -> None:
    page = opened(RICH)
    button = page.locator(".counts button[data-verdict=correct]")
    button.focus()
    page.keyboard.press("Space")
    assert {cell.split()[1] for cell in rows(page, 3)} == {"correct"}
    assert button.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Space")
    assert len(rows(page, 1)) == len(RICH.gradients)


def test_a_row_leads_to_its_panel_and_opens_it(opened: Opened) -> None:
    page = opened(RICH)
    panel = page.locator("#g6")
    assert panel.get_attribute("open") is None
    page.get_by_role("link", name="d loss / d sequential/dense/kernel").click()
    expect(panel.get_by_text("The 10 worst entries")).to_be_visible()
    expect(panel.get_by_role("rowheader", name="[39, 59]")).to_be_in_viewport()


def test_a_panel_opens_by_keyboard(opened: Opened) -> None:
    page = opened(RICH)
    page.locator("#g2 summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#g2 figure").first).to_be_visible()


def test_the_theme_is_that_of_the_system_until_it_is_changed(opened: Opened) -> None:
    page = opened(RICH, scheme="dark")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    theme = page.locator("#theme")
    assert theme.get_attribute("aria-pressed") == "true"
    theme.focus()
    page.keyboard.press("Enter")
    light = page.evaluate(ground)
    assert light != dark
    assert theme.get_attribute("aria-pressed") == "false"
    page.reload()
    assert page.evaluate(ground) == light
    opened.requests.pop()  # the reload asked for the file once more


def test_the_first_stop_of_the_keyboard_skips_to_the_report(opened: Opened) -> None:
    page = opened(RICH)
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"


def test_the_focus_is_visible(opened: Opened) -> None:
    page = opened(RICH)
    page.locator("#find").focus()
    page.keyboard.press("Tab")
    style = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"


def test_a_picture_that_is_lacking_has_its_reason_and_no_empty_box(opened: Opened) -> None:
    page = opened(BY_VERDICT["undefined"])
    expect(page.locator("#g0 .remarks")).to_contain_text(
        "no picture of the captured program: no program was recorded"
    )
    assert page.evaluate(
        "() => [...document.querySelectorAll('figure')].every((f) => f.innerText.length > 20)"
    )


def test_every_drawing_has_words_for_those_who_do_not_see_it(opened: Opened) -> None:
    page = opened(RICH)
    drawings = page.evaluate(
        """() => [...document.querySelectorAll("figure svg")]
          .map((drawing) => drawing.getAttribute("role") + drawing.getAttribute("aria-label"))"""
    )
    assert len(drawings) >= 6
    assert all(re.match(r"img.{30,}", words) for words in drawings)


def test_thousands_of_rows_are_sorted_and_filtered_at_once(opened: Opened) -> None:
    """What the browser did is counted, not timed: rows move once, and the page is laid out a few times at most."""
    page = opened(many_gradients(5000))
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable")

    def layouts() -> float:
        found = metrics.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in found if one["name"] == "LayoutCount")

    before = layouts()
    moved, n_rows = page.evaluate(
        """async () => {
          const table = document.getElementById("table");
          let moved = 0;
          const rows = (one) => [...one.addedNodes].filter((node) => node.nodeName === "TR").length;
          const count = (records) => { for (const one of records) moved += rows(one); };
          new MutationObserver(count).observe(table, { childList: true, subtree: true });
          document.querySelector("#table .col-digits button").click();
          const find = document.getElementById("find");
          find.value = "w4999";
          find.dispatchEvent(new Event("input"));
          table.getBoundingClientRect();
          await new Promise((resolve) => setTimeout(resolve));
          return [moved, table.querySelectorAll("tr[data-verdicts]").length];
        }"""
    )
    assert len(rows(page, 0)) == 1
    assert moved == n_rows >= 5000
    assert layouts() - before <= 5  # one for each change, and one for what is measured
