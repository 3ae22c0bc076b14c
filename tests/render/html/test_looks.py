"""What can be measured about how the page looks: contrast, widths, paper, names for every control, size."""

import itertools
from dataclasses import replace

import pytest
from playwright.sync_api import Page

from gradproof.render.to_html import to_html
from tests.render.html.conftest import Opened
from tests.render.html.pictured import hostile_report, large_report, trained
from tests.render.reports import BY_VERDICT, RICH

# The colour of every piece of text and the ground behind it. Colours with an alpha are laid over what is below.
PAIRS = """() => {
  const parse = (colour) => {
    const canvas = parse.canvas ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, below) => top.slice(0, 3).map((c, k) => (c * top[3] + below[k] * (255 - top[3])) / 255);
  const ground = (element) => {
    const chain = [];
    for (let at = element; at; at = at.parentElement) chain.unshift(parse(getComputedStyle(at).backgroundColor));
    return chain.reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const found = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !element.checkVisibility() || element.closest("svg")) continue;
    const behind = ground(element), ink = over(parse(getComputedStyle(element).color), behind);
    found.set(String([ink, behind]), [ink, behind, element.tagName + "." + element.className]);
  }
  return [...found.values()];
}"""


def luminance(colour: list[float]) -> float:
    parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: list[float], other: list[float]) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def open_everything(page: Page) -> None:
    page.evaluate("() => { for (const d of document.querySelectorAll('details')) d.open = true; }")
    for graph in page.locator(".graph").all():
        graph.scroll_into_view_if_needed()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_a_contrast_of_four_and_a_half(opened: Opened, scheme: str) -> None:
    page = opened(RICH, scheme=scheme)
    open_everything(page)
    pairs = page.evaluate(PAIRS)
    assert len(pairs) > 12
    weak = [
        (where, round(contrast(ink, ground), 2))
        for ink, ground, where in pairs
        if contrast(ink, ground) < 4.5
    ]
    assert weak == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_ways_to_a_theme_have_the_same_colours(opened: Opened, scheme: str) -> None:
    ask = """() => ["ground", "raised", "ink", "faint", "rule", "error", "good", "link", "computed", "string"]
      .map((key) => getComputedStyle(document.documentElement).getPropertyValue("--" + key))"""
    by_system = opened(RICH, scheme=scheme).evaluate(ask)
    page = opened(RICH, scheme="dark" if scheme == "light" else "light")
    page.locator("#theme").click()
    assert page.evaluate(ask) == by_system


@pytest.mark.parametrize("width", [360, 480, 768, 1024, 1280, 1600])
@pytest.mark.parametrize("report", [RICH, hostile_report()], ids=["rich", "hostile"])
def test_the_page_never_scrolls_sideways(opened: Opened, width: int, report: object) -> None:
    page = opened(report, width=width)  # type: ignore[arg-type]
    open_everything(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [360, 1280])
def test_no_text_lies_over_other_text(opened: Opened, width: int) -> None:
    page = opened(RICH, width=width)
    open_everything(page)
    boxes = page.evaluate(
        """() => {
          const texts = "h1, h2, h3, h4, h5, p, .line, .label, .part, .facts div, summary, figcaption, tr";
          const shown = [...document.querySelectorAll(texts)]
            .filter((e) => e.checkVisibility() && !e.closest(".scroll, .canvas"));
          return shown.map((e) => {
            const { x, y, right, bottom } = e.getBoundingClientRect();
            const inside = shown.flatMap((other, k) => (other.contains(e) || e.contains(other) ? [k] : []));
            return { x, y: y + scrollY, right, bottom: bottom + scrollY, inside, text: e.innerText.slice(0, 40) };
          });
        }"""
    )
    for (j, one), (k, other) in itertools.combinations(enumerate(boxes), 2):
        if k in one["inside"] or j in other["inside"]:
            continue
        wide = min(one["right"], other["right"]) - max(one["x"], other["x"])
        tall = min(one["bottom"], other["bottom"]) - max(one["y"], other["y"])
        assert wide <= 2 or tall <= 2, (one["text"], other["text"])


def test_paper_gets_black_on_white_with_everything_open(opened: Opened) -> None:
    page = opened(RICH, scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("() => document.querySelectorAll('details:not([open])').length") == 0
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("() => getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not page.locator("body > header").is_visible()
    weak = [pair for pair in page.evaluate(PAIRS) if contrast(pair[0], pair[1]) < 4.5]
    assert weak == []
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("() => document.querySelectorAll('details:not([open])').length") > 0


@pytest.mark.parametrize(
    "report", [RICH, large_report(), *BY_VERDICT.values()], ids=["rich", "large", *BY_VERDICT]
)
def test_controls_have_names_ids_are_unique_and_links_lead_somewhere(opened: Opened, report: object) -> None:
    page = opened(report)  # type: ignore[arg-type]
    open_everything(page)
    faults = page.evaluate(
        """() => {
          const all = (selector) => [...document.querySelectorAll(selector)];
          const ids = all("[id]").map((e) => e.id);
          const level = (heading) => Number(heading.tagName[1]);
          const headings = all("h1, h2, h3, h4, h5");
          return {
            repeated: ids.filter((id, k) => ids.indexOf(id) !== k),
            nameless: all("input, select, button, summary, a").filter((e) =>
              !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML),
            dangling: all("a[href]").map((a) => a.getAttribute("href")).filter((h) =>
              !h.startsWith("#") || !document.getElementById(h.slice(1))),
            labelled: all("[aria-labelledby]").filter((e) =>
              !document.getElementById(e.getAttribute("aria-labelledby"))).map((e) => e.outerHTML.slice(0, 80)),
            scopeless: all("th:not([scope])").map((e) => e.outerHTML.slice(0, 80)),
            jumps: headings.filter((h, k) => k && level(h) > level(headings[k - 1]) + 1).map((h) => h.textContent),
            landmarks: ["main", "body > header", "nav[aria-label]", "h1"].map((each) => all(each).length),
            scrollers: all("*").filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth && !e.closest("svg")
              && ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.tabIndex < 0
              && !e.querySelector("a, button, input, [tabindex='0']")).map((e) => e.className),
          };
        }"""
    )
    assert faults.pop("landmarks") == [1, 1, 1, 1]
    assert {key: found for key, found in faults.items() if found} == {}


def test_a_model_of_ten_million_parameters_makes_a_small_page_of_few_elements(opened: Opened) -> None:
    """What a page costs a browser is its size and its elements; seconds would be those of a busy machine."""
    report = large_report()
    assert len(to_html(report).encode()) < 5_000_000
    page = opened(report)
    page.wait_for_function("() => performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
    assert page.evaluate("() => document.querySelectorAll('*').length") < 40_000


@pytest.mark.parametrize("is_by_run", [True, False], ids=["runs", "calls"])
def test_a_narrow_table_shows_all_that_a_wide_one_does(opened: Opened, is_by_run: bool) -> None:
    report = trained(last=3)
    if not is_by_run:
        report = replace(report, gradients=tuple(one for one in report.gradients if one.occurrence == 1))
    page = opened(report, width=400)
    assert bool(page.locator("#table.by-run").count()) is is_by_run
    for row in page.locator("#table tr[data-verdicts]").all():
        assert (row.locator("th").bounding_box() or {"width": 0})["width"] > 300, "names have the whole width"
        for cell in row.locator("td").all():
            assert cell.is_visible() == bool((cell.text_content() or "").strip())
            box = cell.bounding_box()
            assert box is None or box["x"] + box["width"] <= 400
