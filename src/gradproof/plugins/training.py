"""An audit that runs beside a training: what the callbacks of all trainers share."""

from __future__ import annotations

import os
from weakref import finalize

from gradproof.audit.budget import Budget, parse_checks
from gradproof.audit.relocate import relative_to
from gradproof.audit.session import Session
from gradproof.cli.output import say, write_text
from gradproof.deferred.keeping import FolderKeeper, keeper_in, kept_line
from gradproof.deferred.model import Ended
from gradproof.diagnosis.diagnostic import SEVERITIES
from gradproof.diagnosis.report import FailOn, GradientReport, Report
from gradproof.errors import InvalidInput
from gradproof.options import Options, options_of
from gradproof.render.summary_text import passed_line
from gradproof.render.to_json import to_json
from gradproof.render.to_text import to_text


class TrainingAudit:
    """One audit from the beginning of a training to its end; `report` has what is known."""

    def __init__(
        self,
        checks: str = "powers",
        report: str | os.PathLike[str] | None = None,
        stop_on: FailOn = "never",
        budget: float | None = None,
        options: Options | None = None,
        defer: str | os.PathLike[str] | None = None,
    ) -> None:
        if defer is not None and (report is not None or stop_on != "never"):
            raise InvalidInput(
                "with defer= nothing is judged yet: report= and stop_on= have nothing to go by"
            )
        self.report = Report(())
        self._policy = parse_checks(checks)
        self._path = None if report is None else os.path.abspath(report)
        self._stop_on = stop_on
        self._budget = Budget(budget, option="budget=")
        self._options = options_of(options)
        self._session: Session | None = None
        self._n_seen = 0
        self._defer = None if defer is None else os.fspath(defer)
        self._keeper: FolderKeeper | None = None  # of all trainings with this callback

    def begin(self) -> None:
        self.close()
        if self._defer is not None and self._keeper is None:
            self._keeper = keeper_in(self._defer, self._options)
        self._session = Session(self._options, self._budget, self._policy, keeper=self._keeper)
        self._session.start()
        # A training that an exception ends may tell its callbacks nothing.
        finalize(self, self._session.stop).atexit = False
        self._n_seen = 0

    def new(self) -> list[GradientReport]:
        """The gradients that were checked since this was last asked."""
        known = [] if self._session is None else self._session.gradients
        found, self._n_seen = list(known[self._n_seen :]), len(known)
        return found

    def is_to_stop(self, found: list[GradientReport]) -> bool:
        """Whether one of these has a fault of the level at which training is to end."""
        if self._stop_on == "never":
            return False
        least = SEVERITIES.index(self._stop_on)
        return any(SEVERITIES.index(gradient.level) >= least for gradient in found)

    def write(self) -> None:
        """The report so far, for the attribute and the file."""
        if self._session is None:
            return
        self.report = relative_to(self._session.report(), os.getcwd())
        if self._path is None:
            return
        text = (
            to_json(self.report) if self._path.endswith(".json") else to_text(self.report, detail="verbose")
        )
        # A training of hours does not end because the disk is full; what could not be written is said.
        write_text(lambda: text, self._path)

    def close(self) -> None:
        if self._session is not None:
            self._session.stop()
            if self._keeper is not None:
                self._keeper.end(Ended(self._session.known()))
            self.write()
            self._session = None

    def end(self) -> None:
        """The training is over: say in one line what was found, or is kept."""
        self.close()
        if self._keeper is not None and self._defer is not None:
            say(kept_line(self._keeper, self._defer))
        else:
            say(passed_line(self.report))
