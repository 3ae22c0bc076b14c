"""Listening to a program from the moment it imports a framework: the part that is the same for all of them."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeVar

from gradproof.frontends.attachment import Attachment, Crash, Skipped
from gradproof.frontends.record.on_import import on_import
from gradproof.frontends.record.sites import Sites
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span


class Observer(Protocol):
    """What follows a framework once it is there."""

    failures: list[str]

    @property
    def sites(self) -> Sites: ...

    def recount(self) -> None: ...


Follower = TypeVar("Follower", bound=Observer)


def attach_on_import(
    framework: str,
    begin: Callable[[], tuple[Follower, Callable[[], None]]],
    place: Callable[[Hashable], Span | None],
    tried: Callable[[Follower], Sequence[Capture]] = lambda observer: (),
    crashed: Callable[[Follower, BaseException], Crash | None] = lambda observer, error: None,
    ended: Callable[[Follower], None] = lambda observer: None,
    remarked: Callable[[Follower], Sequence[str]] = lambda observer: (),
    package: str = "",
) -> Attachment:
    """`begin` runs when the framework is there; it returns the observer and what takes its hooks out again.

    With `package` that is awaited, where the framework alone computes no gradients. `place` says where a call site
    is. What the observer learns when the program has ended is asked of `tried`, `crashed` and `remarked`.
    """
    observers: list[Follower] = []
    failures: list[str] = []
    undo: list[Callable[[], None]] = []

    def install() -> None:
        try:
            observer, remove = begin()
        except Exception:  # hooks that do not fit this version must not cost the user the run
            failures.append(traceback.format_exc())
            return
        observers.append(observer)
        undo.append(remove)

    undo.append(on_import(install, package or framework))

    def remove() -> None:
        while undo:
            undo.pop()()

    def recount() -> None:
        for observer in observers:
            observer.recount()

    def end() -> None:
        for observer in observers:
            ended(observer)

    return Attachment(
        framework,
        remove,
        lambda: [row for observer in observers for row in _skipped(observer, place)],
        lambda: failures + [failure for observer in observers for failure in observer.failures],
        lambda: [capture for observer in observers for capture in tried(observer)],
        lambda error: next((crashed(observer, error) for observer in observers), None),
        recount,
        end,
        lambda: [remark for observer in observers for remark in remarked(observer)],
    )


def _skipped(observer: Observer, place: Callable[[Hashable], Span | None]) -> list[Skipped]:
    found = []
    for key, site in observer.sites.table.items():
        span = place(key) if site.skipped else None
        if span is not None:
            found.append(Skipped(span, site.skipped, site.nonfinite_unchecked))
    return found
