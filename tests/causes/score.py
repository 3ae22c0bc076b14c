"""Prints hits, misses and false alarms per cause on the cases: `python -m tests.causes.score`."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path

from tests.causes.harness import (
    FRAMEWORKS,
    cause_of,
    framework_of,
    markers,
    outcome_of,
    role_of,
    scripts,
)


def main() -> int:
    """The exit status is 1 if anything was missed or a false alarm raised."""
    hits: Counter[str] = Counter()
    misses: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    innocent: Counter[str] = Counter()
    known = [f for f in FRAMEWORKS.values() if f == "numpy" or importlib.util.find_spec(f) is not None]
    for path in (path for path in scripts() if framework_of(path) in known):
        places, marked = outcome_of(path).places, markers(path)
        hits.update(kind for kind, _ in places & marked)
        misses.update(kind for kind, _ in marked - places)
        if role_of(path) != "guilty":
            innocent[cause_of(path)] += 1
            # Another cause may warn there, with reason; an error, or this cause, is a false alarm.
            places = {(kind, line) for kind, line in places if kind == cause_of(path)} | _errors(path)
        alarms.update(kind for kind, _ in places - marked)
    print(f"{'cause':<24}{'hits':>6}{'misses':>8}{'false alarms':>14}{'innocent scripts':>18}")
    for cause in sorted({*hits, *misses, *alarms, *innocent}):
        print(f"{cause:<24}{hits[cause]:>6}{misses[cause]:>8}{alarms[cause]:>14}{innocent[cause]:>18}")
    totals = [sum(counter.values()) for counter in (hits, misses, alarms, innocent)]
    print(f"{'all':<24}{totals[0]:>6}{totals[1]:>8}{totals[2]:>14}{totals[3]:>18}")
    return 1 if totals[1] or totals[2] else 0


def _errors(path: Path) -> set[tuple[str, int]]:
    return outcome_of(path).errors


if __name__ == "__main__":
    sys.exit(main())
