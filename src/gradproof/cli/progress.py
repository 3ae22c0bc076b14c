"""A line that says what is being checked, on a terminal and only while a check takes long."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from gradproof.audit.budget import Budget
from gradproof.clock import shown_by

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

PATIENCE = 0.5  # seconds of a check without a line: most are over by then, and would only flicker
INTERVAL = 0.1  # seconds between two drawings
BAR = 20  # columns of the bar that shows how much of the budget is spent


@dataclass(eq=False)
class Progress:
    """Draws from within the check itself: no thread of ours writes while the user's program has the terminal."""

    stream: TextIO
    budget: Budget
    _since: float | None = None
    _drawn: float = 0.0
    _live: Live | None = None

    def show(self, doing: tuple[str, ...]) -> None:
        now = time.monotonic()
        if self._since is None:
            self._since = now
        elif now - self._since >= PATIENCE and now - self._drawn >= INTERVAL:
            self._drawn = now
            self._draw(doing, self.budget.spent + now - self._since)

    def hide(self) -> None:
        """The line is gone afterwards, as if it had never been there."""
        live, self._live, self._since = self._live, None, None
        if live is not None:
            live.stop()

    def _draw(self, doing: tuple[str, ...], spent: float) -> None:
        if self._live is None:
            # Only now: most runs never get here, and rich takes time to load.
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                console=Console(file=self.stream),
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        self._live.update(self._line(doing, spent), refresh=True)

    def _line(self, doing: tuple[str, ...], spent: float) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        # The time stands first, so that a narrow terminal cuts the details and not the time.
        words = Text(f"gradproof {spent:.0f} s in checks", "bold")
        total = self.budget.seconds
        if total is not None:
            words.append(f", {max(total - spent, 0.0):.0f} s left")
        words.append(f"  {': '.join(doing)}", "not bold")
        line = Table.grid(padding=(0, 1))
        bar = [] if not total else [ProgressBar(total=total, completed=min(spent, total), width=BAR)]
        for _ in bar:
            line.add_column(width=BAR)
        line.add_column(no_wrap=True, overflow="ellipsis")
        line.add_row(*bar, words)
        return line


def progress_on(stream: TextIO | None, budget: Budget, is_quiet: bool) -> Progress | None:
    """Where a line can be shown and taken back; None for files, pipes, plain terminals and those who want quiet."""
    if is_quiet or stream is None or stream.closed or not stream.isatty() or os.environ.get("TERM") == "dumb":
        return None
    return Progress(stream, budget)


@contextmanager
def showing(is_quiet: bool) -> Iterator[None]:
    """Show the checks that are made inside, without a budget."""
    progress = on_errors(Budget(), is_quiet)
    if progress is None:
        yield
        return
    try:
        with shown_by(progress.show):
            yield
    finally:
        progress.hide()


def on_errors(budget: Budget, is_quiet: bool) -> Progress | None:
    """On the terminal's error stream, whatever the user's program puts in the place of `sys.stderr`."""
    return progress_on(sys.__stderr__, budget, is_quiet)
