"""JAX and PyTorch: the op at which modes part is named rightly, and no difference is claimed where there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for, plain_modes
from gradproof.modes.model import ModeCell
from gradproof.modes.table import compared
from gradproof.options import Options

jnp = pytest.importorskip("jax.numpy")
torch = pytest.importorskip("torch")

from tests.modes import jax_programs, torch_programs
from tests.modes.cases import ModeCase, normal


def _cells(case: ModeCase, x: Any, modes: tuple[str, ...]) -> dict[str, ModeCell]:
    """By mode; the user's own run has its own name where it is none of them."""
    (capture,) = frontend_for((x,), {}).check(Request(case.function, (x,))).captures
    chosen = [replace(one, precisions=()) for one in plain_modes(capture.framework) if one.name in modes]
    found = compared(capture, chosen, [], Options(seconds=None))
    assert found is not None and not found.lacking
    return {line.mode: line.cells[0] for line in found.lines}


def _assert_named(case: ModeCase, cell: ModeCell) -> None:
    found = [(one.op, one.phase, one.whose.kind) for one in cell.partings]
    assert (case.op, case.phase, case.kind) in found
    assert any(case.text in one.whose.text for one in cell.partings)


@pytest.mark.parametrize("name", jax_programs.PARTING)
def test_jax_compiled(name: str) -> None:
    case = jax_programs.PARTING[name]
    cell = _cells(case, jnp.asarray(case.point), ("op by op", "jit"))["jit"]
    assert cell.gap_ulps
    _assert_named(case, cell)


@pytest.mark.parametrize("name", jax_programs.CONTROLS)
def test_jax_compiles_to_the_same(name: str) -> None:
    case = jax_programs.CONTROLS[name]
    cells = _cells(case, jnp.asarray(case.point), ("op by op", "jit"))
    assert list(cells) == ["op by op", "jit"]
    assert all(cell.gap_ulps == 0 and not cell.partings for cell in cells.values())


# The compiler takes long to write a program; of two in which it parts at the same op one is left to the night.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if name == "softmax by hand" else ())
        for name in torch_programs.INDUCTOR
    ],
)
def test_pytorch_compiled_by_inductor(name: str) -> None:
    case = torch_programs.INDUCTOR[name]
    cell = _cells(case, torch.tensor(case.point), ("eager", "compiled, inductor"))["compiled, inductor"]
    assert cell.gap_ulps
    _assert_named(case, cell)


@pytest.mark.parametrize("name", torch_programs.AUTOCAST)
def test_pytorch_under_autocast(name: str) -> None:
    case = torch_programs.AUTOCAST[name]
    cell = _cells(case, torch.tensor(case.point), ("eager", "autocast to bfloat16"))["autocast to bfloat16"]
    assert cell.gap_ulps
    _assert_named(case, cell)


@pytest.mark.parametrize("name", torch_programs.IN_ONE_PIECE)
def test_pytorch_in_one_piece(name: str) -> None:
    case = torch_programs.IN_ONE_PIECE[name]
    cells = _cells(case, torch.tensor(case.point), ("eager",))
    assert cells["eager"].gap_ulps and cells["eager, as it ran"].gap_ulps == 0
    _assert_named(case, cells["eager, as it ran"])


@pytest.mark.parametrize("name", torch_programs.CONTROLS)
def test_pytorch_traced_and_with_other_settings_is_the_same(name: str) -> None:
    case = torch_programs.CONTROLS[name]
    names = ("eager", "deterministic algorithms", "one thread", "compiled, aot_eager", "autocast to bfloat16")
    cells = _cells(case, torch.tensor(case.point), names)
    assert list(cells) == [
        "eager",
        "deterministic algorithms",
        "one thread",
        "autocast to bfloat16",
        "compiled, aot_eager",
    ]
    assert all(cell.gap_ulps == 0 and not cell.partings for cell in cells.values())


def test_pytorch_adds_a_million_numbers_in_another_order_with_other_threads() -> None:
    case = ModeCase(lambda x: torch.log(torch.sum(x)), normal(1_000_000) ** 2, "sum", "forward", "sum-order")
    cells = _cells(case, torch.tensor(case.point), ("eager", "one thread", "four threads"))
    apart = [cell for cell in cells.values() if cell.gap_ulps]
    if not apart:
        pytest.skip("this process has one thread, however many are asked for")
    for cell in apart:
        _assert_named(case, cell)
