"""A sweep from its plan to its directory of results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gradproof import __version__
from gradproof.audit.versions import installed_version
from gradproof.cluster.workers import Failed, workers
from gradproof.errors import InvalidInput
from gradproof.frontends.select import WITH_COVERAGE, library_of
from gradproof.sweep.one_op import FORMAT, sweep_op
from gradproof.sweep.plan import Plan, matching
from gradproof.sweep.results import store, stored, stored_of_any_plan


@dataclass(frozen=True)
class Progressed:
    """One op is done: how many are, of how many, and what became of it."""

    n_done: int
    n_all: int
    result: dict[str, Any]
    was_stored: bool


def sweep(
    framework: str,
    folder: str,
    plan: Plan,
    pattern: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    only_stored: bool = False,
) -> Iterator[Progressed]:
    """Sweep what the directory does not hold yet; each result is on the disk before it is told.

    `only_stored`: tell what is there, of whatever plan, and sweep nothing.
    """
    version = installed_version(framework)
    if framework not in WITH_COVERAGE or version is None:
        raise InvalidInput(f"{framework} is not installed, so its ops cannot be swept")
    names = matching([op.name for op in library_of(framework).ops()], pattern)
    kept = {
        name: stored_of_any_plan(folder, framework, name, plan.order)
        if only_stored
        else stored(folder, framework, name, plan, version)
        for name in names
    }
    n_done = 0
    for result in kept.values():
        if result is not None:
            n_done += 1
            yield Progressed(n_done, len(names), result, True)
    tasks = {name: (framework, name, plan) for name, result in kept.items() if result is None}
    if not tasks or only_stored:
        return
    with workers(jobs, scheduler) as done:
        for name, outcome in done(sweep_op, tasks):
            result = (
                _lost(framework, version, name, plan, outcome) if isinstance(outcome, Failed) else outcome
            )
            store(folder, result)
            n_done += 1
            yield Progressed(n_done, len(names), result, False)


def _lost(framework: str, version: str, op: str, plan: Plan, failed: Failed) -> dict[str, Any]:
    """An op that has taken its process with it, or a fault of ours."""
    return {
        "format": FORMAT,
        "gradproof": __version__,
        "framework": framework,
        "version": version,
        "op": op,
        "order": plan.order,
        "plan": plan.to_data(),
        "samples": 0,
        "verdicts": {},
        "reasons": {failed.reason: 1},
        "faults": [],
        "seconds": 0.0,
    }
