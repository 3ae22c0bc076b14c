"""A directory of results, one file per op: what is there is not done again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from gradproof import __version__
from gradproof.errors import InvalidInput
from gradproof.sweep.one_op import FORMAT
from gradproof.sweep.plan import Plan
from gradproof.whole_file import replace_file


def stored(folder: str, framework: str, op: str, plan: Plan, version: str | None) -> dict[str, Any] | None:
    """The result of an op, if it is there, whole, and of the same plan and versions."""
    found = stored_of_any_plan(folder, framework, op, plan.order)
    asked = {"gradproof": __version__, "version": version, "plan": plan.to_data()}
    return found if found is not None and asked.items() <= found.items() else None


def stored_of_any_plan(folder: str, framework: str, op: str, order: int) -> dict[str, Any] | None:
    """What is there to be shown, however it was asked for."""
    try:
        return _read(_path(folder, framework, op, order))
    except InvalidInput:
        return None


def store(folder: str, result: dict[str, Any]) -> None:
    """Whole or not at all."""
    path = _path(folder, result["framework"], result["op"], result["order"])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    replace_file(path, [json.dumps(result, indent=1).encode()])


def all_results(folder: str) -> Iterator[dict[str, Any]]:
    """Of every library that was swept into this directory, by name."""
    if not os.path.isdir(folder):
        raise InvalidInput(f"`{folder}` is no directory of sweep results")
    for framework in sorted(os.listdir(folder)):
        inside = os.path.join(folder, framework)
        for name in sorted(os.listdir(inside)) if os.path.isdir(inside) else ():
            if name.endswith(".json"):
                yield _read(os.path.join(inside, name))


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InvalidInput(
            f"`{path}` is no result of a sweep by this version: delete it and sweep its op again"
        )
    return found


def _path(folder: str, framework: str, op: str, order: int) -> str:
    name = re.sub(r"[^A-Za-z0-9_.]", "-", op)
    return os.path.join(folder, framework, f"{name}.json" if order == 1 else f"{name}.order-{order}.json")
