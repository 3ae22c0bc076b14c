"""Gradients, Jacobians and directions of functions of arrays."""

import math

import numpy as np
import pytest

from gradproof.blackbox import Derivative, Derivatives, directional, gradient, jacobian

X = np.array([[0.3, -1.2], [2.0, 0.7]])


def test_a_gradient_has_the_shape_of_x_and_its_bars_hold() -> None:
    found = gradient(lambda x: float(np.sum(np.sin(x) * x)), X)
    truth = np.sin(X) + X * np.cos(X)
    assert found.ok
    assert found.value.shape == X.shape
    assert (abs(found.value - truth) <= found.error).all()
    assert np.array_equal(np.asarray(found), found.value)


def test_a_jacobian_has_the_shape_of_the_result_and_then_of_x() -> None:
    found = jacobian(lambda x: np.array([x[0] * x[1], math.exp(x[0]), abs(x[1])]), np.array([1.0, 2.0]))
    truth = np.array([[2.0, 1.0], [math.e, 0.0], [0.0, 1.0]])
    assert found.value.shape == (3, 2)
    assert (abs(found.value - truth) <= found.error).all()


def test_the_entries_of_a_result_share_the_calls() -> None:
    one = jacobian(lambda x: np.array([math.sin(x)]), 0.7).evaluations
    three = jacobian(lambda x: np.array([math.sin(x), math.cos(x), math.exp(x)]), 0.7).evaluations
    assert three < 2 * one


def test_a_kink_in_one_entry_leaves_the_others_alone() -> None:
    found = gradient(lambda x: abs(x[0]) + math.exp(x[1]), np.array([0.0, 1.0]))
    assert found.status.tolist() == ["kink", "ok"]
    assert math.isnan(found.value[0])
    assert not found.ok
    assert "[0]: kink" in repr(found)


def test_float32_in_one_entry_does_not_blur_the_others() -> None:
    def function(x: float) -> np.ndarray:
        return np.array([float(np.sin(np.float32(x))), math.sin(float(x))])

    found = jacobian(function, 0.7)
    assert (abs(found.value - math.cos(0.7)) <= found.error).all()
    assert found.error[1] < 1e-12 < found.error[0]


def test_a_direction_gives_the_product_with_the_gradient() -> None:
    direction = np.array([[1.0, 2.0], [-3.0, 0.5]])
    found = directional(lambda x: float(np.sum(x**3)), X, direction)
    assert isinstance(found, Derivative)
    assert abs(found.value - np.sum(3 * X**2 * direction)) <= found.error < 1e-10


@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_the_length_of_a_direction_scales_the_slope_only(length: float) -> None:
    found = directional(lambda x: float(np.sum(np.exp(x))), X, length * np.ones((2, 2)))
    assert isinstance(found, Derivative)
    assert abs(found.value - length * np.sum(np.exp(X))) <= found.error < 1e-9 * length


def test_a_direction_through_several_arguments_and_results() -> None:
    matrix, vector = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -1.0])
    moved = np.ones((2, 2)), np.array([1.0, 0.0])
    found = directional(lambda a, v: a @ v, (matrix, vector), moved)
    assert isinstance(found, Derivatives)
    assert (abs(found.value - (moved[0] @ vector + matrix @ moved[1])) <= found.error).all()


def test_arrays_of_points_are_used_where_rows_are_points() -> None:
    calls = []

    def function(x: np.ndarray) -> np.ndarray:
        calls.append(x.shape)
        return np.sum(np.tanh(x), axis=-1)

    found = gradient(function, np.array([0.2, 0.4, 0.6]))
    assert (abs(found.value - 1 / np.cosh([0.2, 0.4, 0.6]) ** 2) <= found.error).all()
    assert any(len(shape) == 2 for shape in calls)
    assert len(calls) < found.evaluations


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tensors_come_back_as_tensors(dtype: type) -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    x = torch.tensor(np.array([0.3, 1.4], dtype=dtype), requires_grad=True)
    found = gradient(lambda x: torch.sum(torch.sin(x)), x)
    assert (abs(found.value - np.cos(x.detach().numpy().astype(np.float64))) <= found.error).all()
    assert found.error.max() < (1e-4 if dtype is np.float32 else 1e-10)
