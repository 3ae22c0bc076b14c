"""The style sheets and scripts that lie beside this file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from gradproof.render.html.markup import Html

_SCRIPTS = ("layout.js", "program.js", "page.js")


@cache
def resource(name: str) -> Html:
    """A file of this folder; it is ours and goes into the page as it is."""
    return Html(files("gradproof.render.html").joinpath(name).read_text(encoding="utf-8"))


@cache
def script() -> str:
    """All scripts as one, in a scope of their own."""
    return "".join(["(() => {\n", *(resource(name) for name in _SCRIPTS), "})();\n"])
