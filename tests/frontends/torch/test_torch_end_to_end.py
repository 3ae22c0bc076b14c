"""From a PyTorch program to its verdicts: ordinary models, every kind of layer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.cli import running
from tests.frontends.torch.seen import assert_all_correct, audited
from torch import nn
from torch.nn import functional as F

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(5)


def mlp() -> None:
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Dropout(0.3), nn.Linear(6, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
    for _ in range(2):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


def cnn() -> None:
    model = nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3), nn.GELU(), nn.MaxPool2d(2), nn.Conv2d(3, 2, 2, stride=2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 3),
    )  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.randn(3, 1, 8, 8), torch.randint(0, 3, (3,))
    for _ in range(2):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def transposed_convolution() -> None:
    layer = nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1, groups=1)
    layer(torch.randn(2, 2, 3, 3)).square().mean().backward()


def grouped_convolution() -> None:
    layer = nn.Conv1d(4, 6, 3, groups=2, dilation=2)
    layer(torch.randn(2, 4, 8)).sin().mean().backward()


def gru() -> None:
    layer = nn.GRU(3, 4)
    layer(torch.randn(3, 2, 3))[0].square().mean().backward()


def transformer() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.1, batch_first=True)
    loss = (layer(torch.randn(2, 3, 4)) - torch.randn(2, 3, 4)).square().mean()
    loss.backward()


def embedding() -> None:
    table, norm = nn.Embedding(7, 4, padding_idx=0), nn.GroupNorm(2, 4)
    loss = norm(table(torch.tensor([[1, 0, 3], [3, 3, 6]])).transpose(1, 2)).pow(3).mean()
    loss.backward()


def in_place() -> None:
    x = torch.tensor([0.5, -1.5, 2.0, 0.25], requires_grad=True)
    y = x * 3.0
    y += 1.0
    y[2] = 2.0 * y[0]
    y.mul_(y.detach().max())
    y.relu_()
    (y**2).sum().backward()


def grad_of_non_leaf() -> None:
    x = torch.tensor([0.5, -1.5], requires_grad=True)
    y = x.exp()
    torch.autograd.grad(y.sin().sum(), y)


def losses() -> None:
    x = torch.randn(4, 3, requires_grad=True)
    y = torch.randn(4, 3)
    F.mse_loss(x, y).backward()
    F.smooth_l1_loss(x, y).backward()
    F.huber_loss(x, y, delta=0.7).backward()
    F.binary_cross_entropy_with_logits(x, y.sigmoid()).backward()
    F.binary_cross_entropy(x.sigmoid(), y.sigmoid()).backward()
    F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean").backward()
    F.cosine_embedding_loss(x, y, torch.tensor([1.0, -1.0, 1.0, 1.0])).backward()
    F.nll_loss(x.log_softmax(1), torch.tensor([0, 2, 1, 1]), torch.tensor([1.0, 2.0, 0.5])).backward()


PROGRAMS = (mlp, cnn, transposed_convolution, grouped_convolution, gru, transformer, embedding, in_place,
            grad_of_non_leaf, losses)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_right_gradients_are_proven(program: Callable[[], None]) -> None:
    assert_all_correct(audited(program))


def test_kernels_with_several_results_are_no_misreading() -> None:
    """The witness of values looks behind numbers of ours, though a kernel's own took the place of some of them."""

    def program() -> None:
        model = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16))
        (model(torch.randn(8, 7, 16)) ** 2).mean().backward()

    assert_all_correct(audited(program))


def test_what_is_known_only_at_the_end_of_a_program_is_in_the_report_of_a_run(tmp_path: Path) -> None:
    """That a gradient is read and was never set is told after the program: the command hears of it too."""
    script = (
        "import torch\n"
        "w = torch.tensor([0.5, -0.2], requires_grad=True)\n"
        "v = torch.tensor([1.5, -0.2], requires_grad=True)\n"
        "loss = (v * w.detach()).sum()\n"
        "loss.backward()\n"
        "print(w.grad, v.grad)\n"
    )
    rows = running.audited(tmp_path, script)["gradients"]
    found = {row["source"]["name"]: (row["verdict"], [one["kind"] for one in row["causes"]]) for row in rows}
    assert found == {"w": ("missing", ["stop-gradient"]), "v": ("correct", [])}


def test_a_view_that_gradients_are_asked_for_is_where_its_history_begins() -> None:
    """`linspace(...).reshape(...).requires_grad_()`, as every physics-informed network has it."""

    def program() -> None:
        x = torch.linspace(0.05, 0.95, 4).reshape(4, 1).requires_grad_()
        part = torch.linspace(1.0, 2.0, 6)[2:5]
        part.requires_grad_()
        w = torch.tensor(2.0, requires_grad=True)
        (slope,) = torch.autograd.grad(torch.tanh(x * w).sum(), x, create_graph=True)
        loss = ((slope + torch.sin(x)) ** 2).mean() + (part**3).sum()
        loss.backward()

    report = audited(program)
    assert_all_correct(report, 4)
    assert [gradient.source for gradient in report.gradients] == ["x", "part", "x", "w"]
