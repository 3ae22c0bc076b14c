"""A fault as text for the library's own issue tracker: what was done, what came back, what is right, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradproof.diagnosis.words import count, framework_name


def to_issue(result: Mapping[str, Any], fault: Mapping[str, Any]) -> str:
    """In Markdown, with a script that needs nothing but the library."""
    where = f" in {fault['mode']} mode" if fault["mode"] else ""
    library = f"{framework_name(result['framework'])} {result['version']}"
    lines = [
        f"# The {_gradient(result)} of `{result['op']}` is {fault['kind']}{where}",
        "",
        f"With {library} this prints {fault['observed']}; the derivative is {fault['expected']}.",
        "",
        "```python",
        fault["script"].rstrip("\n"),
        "```",
        "",
        "The expected value is a difference quotient of the function's exact meaning, evaluated in 284 bits on both",
        "sides of the point. It agrees with an enclosure of the derivative in ball arithmetic.",
    ]
    if fault["headline"]:
        lines += ["", f"Cause, as far as it was found: {fault['headline']}."]
    seen = f"dtypes {', '.join(fault['dtypes'])}; inputs {', '.join(fault['points'])}"
    lines += ["", f"Seen {count(fault['seen'], 'time')}: {seen}."]
    return "\n".join(lines) + "\n"


def _gradient(result: Mapping[str, Any]) -> str:
    return "gradient" if result.get("order", 1) == 1 else "gradient of the gradient"
