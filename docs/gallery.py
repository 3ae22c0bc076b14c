"""Runs examples while the site is built, and puts the pages that `gradproof run --html` writes of them beside it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"
# One for each kind of trouble, with the framework that it needs; one that is not installed is left out.
SHOWN = {
    "first": "",
    "log_sum_exp": "",
    "custom_term": "",
    "kink": "",
    "long_sum": "",
    "masked_log": "tensorflow",
    "broadcast": "tensorflow",
    "self_distance": "torch",
    "stale": "torch",
    "frozen": "jax",
    "past_the_end": "jax",
}


def write(app: Any, config: Any) -> None:
    """The page that lists the reports, and the reports in a folder that Sphinx copies as it is."""
    folder = Path(app.srcdir) / "gallery"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "reports").mkdir(parents=True)
    names = [
        name for name in config.gallery_shown if not SHOWN[name] or importlib.util.find_spec(SHOWN[name])
    ]
    for name in names:
        _run(name, folder / "reports" / f"{name}.html")
    (folder / "index.md").write_text("\n".join(_page(names)), encoding="utf-8")


def copy(app: Any, error: Exception | None) -> None:
    """The reports to where the page of the site points to them."""
    if error is None and app.builder.format == "html":
        source = Path(app.srcdir) / "gallery" / "reports"
        shutil.copytree(source, Path(app.outdir) / "gallery" / "reports", dirs_exist_ok=True)


def _run(name: str, page: Path) -> None:
    command = [sys.executable, "-m", "gradproof", "run", "--quiet", "--fail-on", "never", "--html", str(page)]
    subprocess.run([*command, f"{name}.py"], cwd=EXAMPLES, capture_output=True, check=True)


def _page(names: list[str]) -> Iterator[str]:
    yield "# Gallery\n"
    yield "Real reports, made by `gradproof run --html page.html SCRIPT` while this site was built. Each is one file"
    yield "that loads nothing from elsewhere.\n"
    yield "```{raw} html\n<ul>"
    for name in names:
        title = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(_title(EXAMPLES / f"{name}.py")))
        yield f'<li><a href="reports/{name}.html">{title}</a> <code>examples/{name}.py</code></li>'
    yield "</ul>\n```\n"


def _title(script: Path) -> str:
    return script.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix('"""').removesuffix(".")
