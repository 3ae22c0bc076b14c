"""The patches of a report, tried together: what stands the trial is told, what does not gives way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradproof.audit import patched_run
from gradproof.audit.changed_meaning import changed_gradient
from gradproof.audit.patched_run import with_tried_patches
from gradproof.audit.second_run import Mended, RerunProgram
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.report import Report
from gradproof.judge.verdict import Verdict
from gradproof.render.to_diff import patched_texts
from gradproof.render.to_json import to_document
from tests.audited import audited

_HEAD = "import numpy as np\nimport gradproof as gp\nx = gp.Variable(np.float32(1.0), name='x')\n"
SCRIPT = (
    _HEAD + "with gp.GradientTape() as tape:\n    y = x * np.float32(1e10) + np.float32(1.0)\n"
    "    loss = (y - np.float32(1e10)) ** 2\nprint(tape.gradient(loss, x))\n"
)
_RIGHT = "@@ -6 +6 @@\n-    loss = (y - np.float32(1e10)) ** 2\n+    loss = (x * np.float32(1e5)) ** 2\n"
_CRASHES = "@@ -6 +6 @@\n-    loss = (y - np.float32(1e10)) ** 2\n+    loss = (x / [][0]) ** 2\n"
_WRONG = "@@ -6 +6 @@\n-    loss = (y - np.float32(1e10)) ** 2\n+    loss = (y - np.float32(1e10)) ** 4\n"
# A gradient of its own for a step: a warning, where somebody meant it.
_ROUNDED = (
    "@@ -6 +6,5 @@\n-    loss = (y - np.float32(1e10)) ** 2\n"
    "+    @gp.custom_gradient\n+    def step(x):\n+        return np.round(x), lambda up: up\n"
    "+    loss = step(x)\n+    del y\n"
)


@pytest.fixture
def script(tmp_path: Path) -> tuple[Path, Report]:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    report, _ = audited(path)
    return path, report


def _with(report: Report, fix: Fix) -> Report:
    (gradient,) = report.gradients
    first: Diagnostic = replace(gradient.diagnostics[0], fix=fix)
    return replace(report, gradients=(replace(gradient, diagnostics=(first,)),))


def _tried(path: Path, report: Report, monkeypatch: pytest.MonkeyPatch) -> tuple[Fix, list[str]]:
    """What becomes of the fix, and the changed scripts that ran: here, instead of in a process of their own."""
    ran: list[str] = []

    def again(program: RerunProgram, mended: Mended, seconds: float) -> Any:
        ran.extend([mended.text] if mended.text != path.read_text(encoding="utf-8") else [])
        other = path.parent / f"run{len(list(path.parent.iterdir()))}" / "script.py"
        other.parent.mkdir()
        other.write_text(mended.text, encoding="utf-8")
        try:
            found, _ = audited(other)
        except (IndexError, SystemExit):
            return {
                "report": to_document(replace(report, script=replace(report.script, exception="IndexError")))
            }
        return {"report": json.loads(json.dumps(to_document(found, full=True)))}

    monkeypatch.setattr(patched_run, "ran_again", again)
    told = with_tried_patches(report, RerunProgram((), (str(path.parent),), str(path)), 1.0)
    fix = told.gradients[0].diagnostics[0].fix
    assert fix is not None
    return fix, ran


def test_a_patch_that_mends_is_checked_by_the_run(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    fix, ran = _tried(script[0], _with(script[1], Fix("a", _RIGHT)), monkeypatch)
    assert fix.checked.startswith("the whole script was run with this change")
    assert len(ran) == 1


def test_what_was_known_of_the_recorded_ops_stands_behind_the_run_of_the_text(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    fix, _ = _tried(script[0], _with(script[1], Fix("a", _RIGHT, "the ops return 2.")), monkeypatch)
    assert fix.checked.startswith(
        "the whole script was run with this change: NumPy returns the gradient for `x`"
    )
    assert fix.checked.endswith(". The ops return 2.")


def test_what_a_change_changes_besides_is_told_with_numbers(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    fix, _ = _tried(script[0], _with(script[1], Fix("a", _RIGHT.replace("1e5", "3"))), monkeypatch)
    assert fix.checked.endswith("`loss` is 9.0 instead of 0.0.")
    assert fix.changes_meaning == "the true gradient for `x` is another one: 18.0 instead of 2.0e10"


def test_entries_that_had_no_derivative_before_are_no_true_gradient(script: tuple[Path, Report]) -> None:
    (was,) = script[1].gradients
    now = replace(was, reference=np.asarray(18.0))
    assert changed_gradient(was, now) != ""
    assert changed_gradient(replace(was, reference_radius=np.asarray(np.inf)), now) == ""


def test_a_gradient_that_only_looks_intended_since_the_change_is_not_mended(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    fix, ran = _tried(script[0], _with(script[1], Fix("a", _ROUNDED, "claimed")), monkeypatch)
    assert len(ran) == 1 and (fix.patch, fix.checked) == ("", "")


def test_a_claim_that_the_run_refutes_is_taken_back(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    fix, _ = _tried(script[0], _with(script[1], Fix("a", _WRONG, "claimed")), monkeypatch)
    assert (fix.patch, fix.checked) == ("", "")


@pytest.mark.parametrize("bad", [_WRONG, _CRASHES])
def test_the_next_one_takes_its_place(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch, bad: str
) -> None:
    report = _with(script[1], Fix("a", bad, others=(Fix("b", _RIGHT),)))
    fix, ran = _tried(script[0], report, monkeypatch)
    assert fix.text == "b" and fix.checked and len(ran) == 2


def test_what_chance_changes_refutes_no_patch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "script.py"
    drawn = SCRIPT.replace("np.float32(1e10)) ** 2", "np.float32(1e10)) ** 2 * scale")
    path.write_text(drawn.replace("x = gp", "scale = np.float32(np.random.rand())\nx = gp"), encoding="utf-8")
    right = _RIGHT.replace("** 2", "** 2 * scale").replace("@@ -6 +6 @@", "@@ -7 +7 @@")
    fix, ran = _tried(path, _with(audited(path)[0], Fix("scale", right, "seen", is_equal=True)), monkeypatch)
    assert fix.patch and fix.checked.startswith("the whole script was run")
    assert "instead of" not in f"{fix.checked}{fix.changes_meaning}" and len(ran) == 1


def test_where_nothing_could_be_run_nothing_is_claimed(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _with(script[1], Fix("a", _RIGHT))
    monkeypatch.setattr(patched_run, "ran_again", lambda *_: None)
    told = with_tried_patches(report, RerunProgram((), (str(script[0].parent),), str(script[0])), 1.0)
    fix = told.gradients[0].diagnostics[0].fix
    assert fix is not None and fix.patch == _RIGHT and not fix.checked


def test_the_case_itself(script: tuple[Path, Report]) -> None:
    assert script[1].gradients[0].verdict is not Verdict.CORRECT
    assert "1e5" in next(iter(patched_texts(_with(script[1], Fix("a", _RIGHT))).values()))


def test_a_patch_for_a_warning_that_the_script_does_not_survive_is_not_claimed(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, report = script
    claimed = _with(report, Fix("divide by nothing", _CRASHES, "with this change all is well"))
    (gradient,) = claimed.gradients
    mild = tuple(replace(one, severity="warning") for one in gradient.diagnostics)
    (fix, ran) = _tried(path, replace(claimed, gradients=(replace(gradient, diagnostics=mild),)), monkeypatch)
    assert len(ran) == 1
    assert (fix.patch, fix.checked) == ("", "")


@pytest.mark.parametrize(("patch", "is_gone"), [(_RIGHT, True), (_WRONG, False)])
def test_a_patch_for_a_warning_is_told_as_run_where_the_warning_is_gone(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch, patch: str, is_gone: bool
) -> None:
    path, report = script
    (gradient,) = _with(report, Fix("a", patch)).gradients
    mild = tuple(replace(one, severity="warning") for one in gradient.diagnostics)
    fix, ran = _tried(path, replace(report, gradients=(replace(gradient, diagnostics=mild),)), monkeypatch)
    assert len(ran) == 1
    assert fix.checked.startswith("the whole script was run with this change") is is_gone


def test_a_fault_is_mended_though_the_patch_for_a_warning_beside_it_crashes(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, report = script
    faulty = _with(report, Fix("scale", _RIGHT))
    (gradient,) = faulty.gradients
    crashing = "@@ -5 +5 @@\n-    y = x * np.float32(1e10) + np.float32(1.0)\n+    y = [][0]\n"
    beside = replace(
        gradient.diagnostics[0], severity="warning", fix=Fix("break it", crashing, "said to work")
    )
    mild = replace(gradient, source="z", diagnostics=(beside,))
    told = replace(faulty, gradients=(gradient, mild))
    fix, ran = _tried(path, told, monkeypatch)
    assert len(ran) == 2
    assert fix.patch and fix.checked


def test_a_patch_that_spoils_another_gradient_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        SCRIPT
        + "with gp.GradientTape() as tape:\n    other = x * np.float32(2.0)\nprint(tape.gradient(other, x))\n",
        encoding="utf-8",
    )
    report, _ = audited(path)
    faulty, fine = report.gradients
    assert (faulty.level, str(fine.verdict)) == ("error", "correct")
    lossy = "((x * np.float32(1e10) + 1) - np.float32(1e10)) ** 2"
    worse = f"@@ -9 +9 @@\n-    other = x * np.float32(2.0)\n+    other = {lossy}\n"
    first = replace(faulty.diagnostics[0], fix=Fix("both", _RIGHT + worse, "seen"))
    told = replace(report, gradients=(replace(faulty, diagnostics=(first,)), fine))
    fix, ran = _tried(path, told, monkeypatch)
    assert ran and (fix.patch, fix.checked) == ("", "")


def test_only_a_change_that_was_in_the_script_is_credited_with_what_it_returned(
    script: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, report = script
    (gradient,) = report.gradients
    first = replace(gradient.diagnostics[0], fix=Fix("shown first, but of the same lines", _WRONG))
    second = replace(first, kind="accumulation", fix=Fix("ran", _RIGHT, checked="alone, in exact arithmetic"))
    both = replace(report, gradients=(replace(gradient, diagnostics=(first, second)),))
    fix, ran = _tried(path, both, monkeypatch)
    assert len(ran) == 1 and "1e5" in ran[0]
    assert (fix.patch, fix.checked) == ("", ""), "what ran was the other change"
    note = replace(second, severity="note")
    asked = replace(report, gradients=(replace(gradient, diagnostics=(first, note)),))
    (text,) = patched_texts(asked).values()
    assert "** 4" in text, "a note shows no change, and its own is not written"
