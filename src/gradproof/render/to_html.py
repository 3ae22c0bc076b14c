"""A report as HTML: a page of its own, or a fragment for a notebook."""

from __future__ import annotations

from gradproof.diagnosis.report import Report
from gradproof.render.html.fragment import fragment
from gradproof.render.html.page import page


def to_html(report: Report) -> str:
    """One self-contained file: no request leaves it, whatever the report holds."""
    return str(page(report))


def to_fragment(report: Report) -> str:
    """A compact version for the output cell of a notebook, with styles of its own and no script."""
    return str(fragment(report))
