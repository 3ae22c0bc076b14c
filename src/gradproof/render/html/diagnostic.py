"""One diagnostic as an article: headline, evidence, why, fix as a diff, checked, notes."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import CRASH, Diagnostic, Fix
from gradproof.render.diagnostic_text import patch_lines
from gradproof.render.html.markup import Html, join, prose, tag

_CERTAINTIES = {
    "proven": "follows from enclosures",
    "measured": "seen in this run",
    "likely": "the pattern matches",
}
_SIGNS = {"-": ("del", "removed"), "+": ("ins", "added")}


def diagnostic_article(
    diagnostic: Diagnostic,
    id: str | None,
    heading: str | None,
    place: Html | None,
    number: int | None = None,
) -> Html:
    """The whole message without its source lines; `place` says where they are, `heading` how high it ranks.

    `number` is its place in the order in which faults are to be fixed. What is None stands elsewhere.
    """
    headline = None
    if heading is not None:
        said = (number_badge(number), level_badge(diagnostic), " ", prose(diagnostic.headline))
        headline = tag(heading, *said)
    how = tag(
        "span", diagnostic.certainty, class_="certainty", title=_CERTAINTIES.get(diagnostic.certainty, "")
    )
    return tag(
        "article",
        headline,
        tag("p", join([part for part in (place, how) if part is not None], " · "), class_="place"),
        _evidence(diagnostic),
        *_parts(diagnostic),
        id=id,
        class_=f"diagnostic {diagnostic.severity}",
    )


def number_badge(number: int | None) -> Html | None:
    """Which fault this is by importance, in front of its headline."""
    return None if number is None else join([tag("span", str(number), class_="finding"), " "])


def level_badge(diagnostic: Diagnostic) -> Html:
    """`error[overflow]` in the colour of its level."""
    return tag("span", f"{diagnostic.severity}[{diagnostic.kind}]", class_=f"level {diagnostic.severity}")


def patch_block(patch: str) -> Html:
    """A diff as lines that say by element, by sign and by colour whether they go or come."""
    lines = []
    for line in patch_lines(patch):
        name, said = _SIGNS.get(line[:1], ("span", "kept"))
        lines.append(tag(name, line or " ", class_=f"row {said}"))
    return tag(
        "pre",
        tag("code", *lines),
        class_="patch",
        tabindex=0,
        role="group",
        aria_label="the change as a diff",
    )


def _evidence(diagnostic: Diagnostic) -> Html | None:
    if not diagnostic.evidence and not diagnostic.subject:
        return None
    rows = [
        tag("tr", tag("th", label, scope="row"), tag("td", value)) for label, value in diagnostic.evidence
    ]
    caption = tag("caption", diagnostic.subject) if diagnostic.subject else None
    return tag("table", caption, tag("tbody", *rows), class_="evidence")


def _parts(diagnostic: Diagnostic) -> Iterator[Html]:
    if diagnostic.why:
        yield _part("why", prose(diagnostic.why))
    if diagnostic.fix is not None:
        yield from _fix(diagnostic.fix)
    for note in diagnostic.notes:
        yield _part("note", prose(note))
    if diagnostic.kind != CRASH:  # what ended one program has no page of its own
        yield _part("more", tag("code", f"gradproof explain {diagnostic.kind}"))


def _fix(fix: Fix) -> Iterator[Html]:
    patch = patch_block(fix.patch) if fix.patch else None
    yield _part("fix", tag("strong", prose(fix.text)), patch)
    if fix.changes_meaning:
        yield _part("changes", prose(fix.changes_meaning))
    if fix.checked:
        yield _part("checked", prose(fix.checked), class_="part checked")
    else:
        yield _part("not checked", "the program with this change was not run")


def _part(label: str, *children: str | None, class_: str = "part") -> Html:
    # A paragraph cannot hold a diff, hence a division.
    return tag("div", tag("b", label), tag("div", join(children)), class_=class_)
