"""Sphinx's settings, and the pages that are made from the code: one per cause, and a gallery of real reports.

    python -m sphinx -W -n docs site

builds the site; `-W -n` make every warning an error, a dead link among them. `-D gallery_shown=first,frozen` runs only
these examples for the gallery.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import cause_pages
import gallery
import mathml

import gradproof

project = "Gradproof"
version = release = gradproof.__version__
copyright = "the authors of Gradproof"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_*", "gallery/reports"]

html_theme = "furo"
html_title = "Gradproof"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"  # browsers draw it themselves: a page needs no network to show a formula

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
default_role = "code"  # docstrings write `name` for code
add_module_names = False
autodoc_typehints = "none"
autodoc_mock_imports = ["keras", "tensorflow"]  # the site can be built without them
autodoc_member_order = "bysource"
pygments_dark_style = "github-dark"


def setup(app: Any) -> None:
    cause_pages.write(Path(__file__).parent / "causes")
    app.add_config_value("gallery_shown", list(gallery.SHOWN), "html", list)
    app.connect("config-inited", gallery.write)
    app.connect("build-finished", gallery.copy)
    mathml.setup(app)
