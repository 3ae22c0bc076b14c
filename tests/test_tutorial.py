"""The five-minute notebook runs from top to bottom, and its reports say what the text beside them says."""

from __future__ import annotations

import json
import linecache
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "examples" / "tutorial.ipynb"


def test_the_notebook_runs_and_shows_what_it_speaks_of() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {"__name__": "__main__"}
    for k, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [], "outputs are made by whoever runs it"
        text, file = "".join(cell["source"]), f"<tutorial {k}>"
        linecache.cache[file] = len(text), None, text.splitlines(True), file  # as notebooks do
        exec(compile(text, file, "exec"), names)
    assert [str(one) for one in names["right"].verdicts] == ["correct"]
    (lost,) = names["lost"].gradients
    assert str(lost.verdict) == "inaccurate"
    assert [one.kind for one in lost.diagnostics if one.rank] == ["cancellation"]
    assert names["lost"].diagnostics[0].fix.checked
    assert [str(one) for one in names["by_hand"].verdicts] == ["wrong"]
    assert abs(names["slope"].value - 0.5403023058681398) <= names["slope"].error
    assert "<" in names["right"]._repr_html_()
