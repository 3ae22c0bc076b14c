"""A right gradient that is exactly 0 trains nothing: the last line says so, and which bound holds the number."""

from __future__ import annotations

import numpy as np
import pytest

import gradproof as gp
from gradproof.judge.verdict import Verdict
from gradproof.render.summary_text import last_line, verdict_line
from gradproof.render.to_html import to_html


def _watched(start: float, low: float) -> gp.Report:
    temperature = gp.Variable(start, name="temperature")
    with gp.watch() as report:
        with gp.GradientTape() as tape:
            loss = np.exp(3.0 / np.clip(temperature, low, 5.0))
        tape.gradient(loss, temperature)
    return report


def test_a_number_beyond_its_bound_does_not_train() -> None:
    report = _watched(0.003, 0.05)
    [note] = report.diagnostics
    assert (note.kind, note.severity) == ("vanishing", "note")
    assert note.span is not None and note.span.file.endswith("test_exactly_zero.py")
    assert "but exactly 0: `temperature` will not train" in last_line(report)
    assert f"{note.span}: flat below 0.05, and this is 0.003; begin inside the bounds" in last_line(report)


def test_the_page_has_a_short_heading_and_the_reason_on_a_card() -> None:
    report = _watched(0.003, 0.05)
    assert verdict_line(report) == "1 gradient correct, proven, but exactly 0: `temperature` will not train"
    card = "<h2>Look at this first</h2>"
    assert card in to_html(report)
    assert card not in to_html(_watched(0.5, 0.05))


def test_of_several_gradients_it_is_said_how_many_are_0() -> None:
    held, free = gp.Variable(0.003, name="held"), gp.Variable(1.5, name="free")
    with gp.watch() as report:
        with gp.GradientTape() as tape:
            loss = np.exp(np.clip(held, 0.05, 5.0)) * free
        tape.gradient(loss, [held, free])
    assert "2 gradients correct, proven, but 1 exactly 0: `held` will not train" in last_line(report)


@pytest.mark.parametrize("low", [0.05, 0.0])
def test_inside_the_bounds_nothing_is_said(low: float) -> None:
    report = _watched(0.5, low)
    assert not report.diagnostics
    assert last_line(report).endswith("; nothing to fix")


@pytest.mark.torch
@pytest.mark.parametrize("columns", [1, 2])
def test_a_softmax_over_one_column_is_always_1(columns: int) -> None:
    torch = pytest.importorskip("torch")
    scores = torch.tensor([[0.3, 1.5], [-1.2, 0.1]])[:, :columns]
    loss = torch.nn.functional.cross_entropy
    last = last_line(gp.check(lambda x: loss(x, torch.tensor([0, 0])), scores))
    assert ("a softmax over one number is always 1; give the loss a column" in last) == (columns == 1)
    report = gp.check(lambda x: loss(x, torch.tensor([0, 0])) + torch.sum(x**2), scores)
    assert not report.diagnostics, "it takes part in another way"


def test_what_a_function_was_not_computed_from_is_said_to_be_so() -> None:
    jax = pytest.importorskip("jax")
    given = {"w": jax.numpy.array([1.0, -2.0]), "b": jax.numpy.float32(0.1)}
    uses = {
        "not-connected": lambda p: given["w"],
        "vanishing": lambda p: jax.lax.stop_gradient(p["w"]),
        "": lambda p: p["w"],
    }
    for kind, used in uses.items():

        def loss(p, used=used):
            return jax.numpy.sum((used(p) * 2.0 + p["b"]) ** 2)

        with gp.watch() as report:
            jax.jit(jax.grad(loss))(given)
        assert report.worst is Verdict.CORRECT
        assert [one.kind for one in report.diagnostics] == ([kind] if kind else [])
        assert ("`given['w']` will not train; " in last_line(report)) == bool(kind)


def test_jax_and_people_write_a_softmax_by_hand_and_over_one_number_it_is_1_too() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def picked(scores):
        return -jnp.mean(jax.nn.log_softmax(scores)[:, 0])

    for columns in (1, 2):
        scores = jnp.array([[0.3, 1.5], [-1.2, 0.1]])[:, :columns]
        for loss in (picked, lambda z: jnp.sum(jnp.sin(jax.nn.softmax(z)[:, 0]))):
            last = last_line(gp.check(loss, scores))
            assert ("a softmax over one number is always 1; give the loss" in last) == (columns == 1)


def test_a_saturated_function_is_told_as_the_reason_at_its_line() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    inputs = jnp.array([200.0, -200.0])
    for name in ("sigmoid", "softmax"):
        report = gp.check(
            lambda x, name=name: jnp.sum(getattr(jax.nn, name)(x) * jnp.array([1.0, 2.0])), inputs
        )
        [found] = report.diagnostics
        assert (found.kind, found.severity) == ("vanishing", "warning")
        assert found.headline.endswith(f"is 0: `{name}` is saturated")
        assert found.span is not None and found.span != report.gradients[0].call
    near = gp.check(lambda x: jnp.sum(jax.nn.sigmoid(x)), jnp.array([40.0, 50.0]))
    assert [one.headline.split(":")[0] for one in near.diagnostics] == ["`sigmoid` is saturated"]
    within = gp.check(lambda x: jnp.sum(jax.nn.sigmoid(x)), jnp.array([2.0, -3.0]))
    assert not within.diagnostics


@pytest.mark.torch
@pytest.mark.parametrize("name", ["sigmoid", "softmax", "tanh"])
def test_a_function_so_far_out_that_no_precision_tells_it_from_its_limit_is_told_too(name: str) -> None:
    torch = pytest.importorskip("torch")
    weights = torch.tensor([[300.0], [200.0]])
    inputs = torch.tensor([[10.0, 20.0], [-30.0, 10.0]])

    def loss(w):
        given = inputs @ w
        out = (
            torch.softmax(torch.cat([given, -given], 1), 1)
            if name == "softmax"
            else getattr(torch, name)(given)
        )
        return torch.mean((out - 0.3) ** 2)

    [found] = gp.check(loss, weights).diagnostics
    assert found.headline.endswith(f"is 0: `{name}` is saturated")
    beside = gp.check(lambda w: loss(w) + 0.0 * torch.sum(w), weights)
    assert not beside.diagnostics, "there is another path, on which something else is 0"


def test_a_softmax_that_goes_into_a_loss_with_its_own_is_told_to_be_left_out() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def twice(scores):
        return -jnp.mean(jax.nn.log_softmax(jax.nn.softmax(scores))[:, 0])

    last = last_line(gp.check(twice, jnp.array([[300.0, -10.0, -400.0], [0.5, 200.0, 0.3]])))
    assert "give the loss the logits: it applies a softmax itself" in last


def test_a_relu_that_is_off_is_not_told_to_stay_inside_bounds() -> None:
    bias = gp.Variable(np.array([-50.0, -40.0]), name="bias")
    with gp.watch() as report:
        with gp.GradientTape() as tape:
            loss = np.sum(np.maximum(bias + 1.0, 0.0))
        tape.gradient(loss, bias)
    assert "such as a leaky relu" in last_line(report)


@pytest.mark.parametrize("is_softmax", [True, False])
def test_only_what_is_divided_by_its_own_sum_is_a_softmax(is_softmax: bool) -> None:
    x = gp.Variable([0.0], name="x")
    with gp.watch() as report:
        with gp.GradientTape() as tape:
            # the logarithm of a Gumbel density is flat at 0, where it has its top
            less = np.log(np.sum(np.exp(x))) if is_softmax else np.sum(np.exp(x))
            loss = np.sum(x - less)
        tape.gradient(loss, x)
    assert ("a softmax over one number" in last_line(report)) == is_softmax
