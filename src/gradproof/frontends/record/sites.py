"""Which executions of a gradient call are looked at: 1st, 2nd, 10th ..., and the one after a bad result."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock

Policy = Callable[[int], bool]
"""Whether the n-th execution (counted from 1) of a call site is looked at. What it refuses it does not take back."""

AHEAD = 64  # executions of which a policy is asked at once
RECENT = 32  # executions of other places after which one is not waited for any more: it may never come again


def by_powers_of_ten(occurrence: int) -> bool:
    """The first two, then each power of ten: early faults at once, late ones at a cost that vanishes."""
    if occurrence <= 2:
        return True
    while occurrence % 10 == 0:
        occurrence //= 10
    return occurrence == 1


def always(occurrence: int) -> bool:
    del occurrence
    return True


@dataclass
class Site:
    """One place in the user's program that computes gradients.

    A result that is not finite in an execution nobody looked at cannot be had again, so it is counted
    here, and the next execution is looked at whatever the policy says.
    """

    executions: int = 0
    skipped: int = 0
    nonfinite_unchecked: int = 0
    suspicious: bool = False
    quiet_until: int = 0  # the policy wants no execution up to this one
    begun_last: int = 0  # which execution of all sites its last one was

    def pass_by(self) -> bool:
        """Count one more execution, if it is known already that neither it nor the next is to be looked at.

        Two threads at one line may lose a count by this; what is looked at then is the execution after.
        """
        if self.suspicious or self.executions + 2 > self.quiet_until:
            return False
        self.executions += 1
        self.skipped += 1
        return True


@dataclass
class Sites:
    """The call sites seen so far, by whatever identifies them."""

    policy: Policy
    table: dict[Hashable, Site] = field(default_factory=dict)
    _n_begun: int = 0
    _counting: Lock = field(default_factory=Lock)  # several threads may execute one line

    def begin(self, key: Hashable) -> tuple[Site, bool]:
        """Count one more execution; is it to be looked at?"""
        with self._counting:
            site = self.table.setdefault(key, Site())
            site.executions += 1
            self._n_begun += 1
            site.begun_last = self._n_begun
            wanted = site.suspicious or self.policy(site.executions)
            if wanted:
                site.suspicious = False
            else:
                site.skipped += 1
                self._look_ahead(site)
        return site, wanted

    def skip(self, site: Site) -> bool:
        """Count one more execution, which has not been looked at; is the next one to be?"""
        site.executions += 1
        site.skipped += 1
        self._look_ahead(site)
        return self.wants_next(site)

    def _look_ahead(self, site: Site) -> None:
        end = site.executions + 1
        while end <= site.executions + AHEAD and not self.policy(end):
            end += 1
        site.quiet_until = end - 1

    def recount(self) -> None:
        """The next execution of every site is a first one; what was skipped stays so."""
        for site in self.table.values():
            site.executions = site.quiet_until = 0

    def wants_next(self, site: Site) -> bool:
        return site.suspicious or self.policy(site.executions + 1)

    def is_waiting(self) -> bool:
        """Whether the next execution of a place that runs just now is to be looked at."""
        return any(
            self._n_begun - site.begun_last <= RECENT and self.wants_next(site)
            for site in self.table.values()
        )
