"""The report in the output cell of a notebook."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from gradproof.render.to_html import to_fragment
from tests.render.html.conftest import Opened
from tests.render.html.test_looks import PAIRS, contrast
from tests.render.reports import BY_VERDICT, RICH

# The grounds of JupyterLab's and VS Code's themes.
NOTEBOOKS = {
    "light": ("<body data-jp-theme-light='true' style='background:#fff;color:#000'>", "light"),
    "dark": ("<body data-jp-theme-light='false' style='background:#111;color:#fff'>", "light"),
    "light notebook on a dark system": (
        "<body data-jp-theme-light='true' style='background:#fff;color:#000'>",
        "dark",
    ),
    "dark editor": ("<body class='vscode-dark' style='background:#1e1e1e;color:#ddd'>", "dark"),
}


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_cell_is_readable_in_every_theme(opened: Opened, tmp_path: Path, notebook: str) -> None:
    body, scheme = NOTEBOOKS[notebook]
    file = tmp_path / "cell.html"
    file.write_text(f"<!DOCTYPE html><meta charset=utf-8>{body}{to_fragment(RICH)}", encoding="utf-8")
    page = opened.file(file, scheme=scheme)
    page.evaluate("() => { for (const d of document.querySelectorAll('details')) d.open = true; }")
    weak = [pair for pair in page.evaluate(PAIRS) if contrast(pair[0], pair[1]) < 4.5]
    assert weak == []


def test_a_cell_shows_the_first_fault_open_and_the_others_closed(opened: Opened, tmp_path: Path) -> None:
    file = tmp_path / "cell.html"
    file.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{to_fragment(RICH)}", encoding="utf-8")
    page = opened.file(file)
    assert page.locator("details").count() == len(RICH.diagnostics)
    assert page.locator("details[open]").count() == 1
    page.locator("summary").nth(1).click()
    expect(page.locator("details").nth(1).get_by_text("checked")).to_be_visible()


def test_a_cell_changes_nothing_outside_itself(opened: Opened, tmp_path: Path) -> None:
    file = tmp_path / "cell.html"
    outside = "<p id=outside>text</p><table><tr><td>1</td></tr></table>"
    ask = """() => [...document.querySelectorAll("#outside, body > table td")].map((element) => {
      const style = getComputedStyle(element);
      return [...style].map((key) => key + style.getPropertyValue(key)).join();
    })"""
    file.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{outside}", encoding="utf-8")
    before = opened.file(file).evaluate(ask)
    file.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><body>{outside}{to_fragment(BY_VERDICT['wrong'])}",
        encoding="utf-8",
    )
    assert opened.file(file).evaluate(ask) == before
