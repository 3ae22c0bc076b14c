"""A real Chromium for the tests of the page; everything it asks for is written down."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route, sync_playwright

from gradproof.diagnosis.report import Report
from gradproof.render.to_html import to_html

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 300_000  # milliseconds: how busy the machine is decides no test


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for this folder only: its event loop would be in the way of other tests that need one."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        # The gate must not pass because nothing was looked at; a contributor without a browser may go on.
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say("no Chromium was found; the HTML page is tested in a real browser")
    with sync_playwright() as playwright:
        # Each launch gets a fresh profile of its own.
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Opened:
    """Opens pages of a browser and writes down what they complain about and ask for."""

    browser: Browser
    folder: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def __call__(
        self, report: Report, *, width: int = 1280, height: int = 900, scheme: str = "light"
    ) -> Page:
        file = self.folder / f"report{len(self.contexts)}.html"
        file.write_text(to_html(report), encoding="utf-8")
        return self.file(file, width=width, height=height, scheme=scheme)

    def file(self, file: Path, *, width: int = 1280, height: int = 900, scheme: str = "light") -> Page:
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion="reduce",
        )
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.route("**/*", self._only_the_file)
        page.goto(file.as_uri())
        return page

    def _only_the_file(self, route: Route, request: Request) -> None:
        self.requests.append(request.url)
        if request.url.startswith("file:"):
            route.continue_()
        else:
            route.abort()


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Opens a report in the browser; afterwards nothing may have been complained about or asked for."""
    pages = Opened(chromium, tmp_path)
    yield pages
    for context in pages.contexts:
        context.close()
    assert pages.complaints == []
    assert all(url.startswith(tmp_path.as_uri()) for url in pages.requests), pages.requests
    assert len(pages.requests) == len(pages.contexts)
