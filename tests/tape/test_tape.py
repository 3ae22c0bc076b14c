"""The tape itself: what is recorded, when, for whom, and what it answers."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.errors import InvalidInput, TapeMisused
from gradproof.judge.verdict import Verdict
from gradproof.tape import Array, Gradient, GradientTape, Missing, Variable, array, stop_gradient
from gradproof.tape.announce import LISTENERS, Finished
from gradproof.tape.capture import to_captures
from gradproof.tape.record import ancestors


def test_gradient_keeps_the_structure_of_the_sources() -> None:
    parameters = {"w": Variable([1.0, 2.0]), "layers": [Variable(3.0), (Variable(4.0),)]}
    with GradientTape() as tape:
        y = np.sum(parameters["w"]) * parameters["layers"][0] * parameters["layers"][1][0]
    gradient = tape.gradient(y, parameters)
    np.testing.assert_array_equal(gradient["w"], [12.0, 12.0])
    assert float(gradient["layers"][0]) == 12.0
    assert isinstance(gradient["layers"][1], tuple)
    assert float(gradient["layers"][1][0]) == 9.0


def test_a_target_that_is_no_number_is_summed() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape() as tape:
        y = x**2
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 4.0])


def test_several_targets_are_summed() -> None:
    x = Variable(3.0)
    with GradientTape() as tape:
        targets = [x**2, {"b": 5 * x}]
    assert tape.gradient(targets, x) == 11.0


def test_output_gradients_weight_the_entries() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape() as tape:
        y = x**2
    gradient = tape.gradient(y, x, output_gradients=np.array([10.0, -1.0]))
    np.testing.assert_array_equal(gradient, [20.0, -4.0])
    assert gradient.verdict is Verdict.CORRECT


def test_output_gradients_of_another_shape_are_refused() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape() as tape:
        y = x**2
    with pytest.raises(InvalidInput, match="the shape of its target"):
        tape.gradient(y, x, output_gradients=np.ones(3))


def test_a_tape_gives_one_gradient_and_says_so() -> None:
    x = Variable(1.0)
    with GradientTape() as tape:
        y = x**2
    tape.gradient(y, x)
    with pytest.raises(TapeMisused, match=r"persistent=True"):
        tape.gradient(y, x)


def test_a_persistent_tape_gives_several() -> None:
    x = Variable(3.0)
    with GradientTape(persistent=True) as tape:
        y = x**2
        z = y * x
    assert tape.gradient(y, x) == 6.0
    assert tape.gradient(z, x) == 27.0
    assert tape.gradient(z, y) == 3.0


def test_the_gradient_for_an_intermediate_result_is_proven_at_the_value_it_had() -> None:
    x = Variable(np.float32(3.3))
    with GradientTape() as tape:
        y = x * x
        z = np.sin(y)
    gradient = tape.gradient(z, y)
    exact = np.cos(np.float64(np.float32(3.3) * np.float32(3.3)))
    assert abs(float(gradient) - exact) <= float(gradient.error)
    assert gradient.verdict is Verdict.CORRECT


def test_watched_arrays_are_sources() -> None:
    with GradientTape() as tape:
        x = tape.watch(np.array([1.0, 2.0]))
        y = np.sum(x**3)
    np.testing.assert_array_equal(tape.gradient(y, x), [3.0, 12.0])


def test_a_traced_array_can_be_watched_in_place() -> None:
    x = array([1.0, 2.0])
    with GradientTape() as tape:
        tape.watch(x)
        y = np.sum(x**2)
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 4.0])


def test_variables_are_watched_only_on_request_when_asked_to() -> None:
    a, b = Variable(2.0, name="a"), Variable(3.0, name="b")
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        y = a * b
    of_a, of_b = tape.gradient(y, [a, b])
    assert of_a == 3.0
    assert isinstance(of_b, Missing)
    assert of_b.reason == "not-watched"


def test_a_variable_that_is_not_trainable_is_not_watched() -> None:
    x = Variable(2.0, trainable=False)
    with GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x).reason == "not-watched"


def test_stop_recording_makes_constants() -> None:
    x = Variable(3.0)
    with GradientTape() as tape:
        y = x**2
        with tape.stop_recording():
            factor = x * 10.0
        z = y * factor
    assert tape.gradient(z, x) == 180.0


def test_reset_forgets() -> None:
    x = Variable(3.0)
    with GradientTape() as tape:
        y = x**2
        tape.reset()
        z = x**3
    assert tape.gradient([z], [x])[0] == 27.0
    with GradientTape(persistent=True) as tape:
        y = x**2
        tape.reset()
    assert isinstance(tape.gradient(y, x), Missing)


def test_unconnected_gradients_can_be_zeros() -> None:
    x, other = Variable([1.0, 2.0]), Variable(np.ones((2, 3), np.float32))
    with GradientTape() as tape:
        y = np.sum(x)
    gradient = tape.gradient(y, [x, other], unconnected_gradients="zero")
    assert gradient[1].shape == (2, 3)
    assert gradient[1].dtype == np.float32
    assert not gradient[1].any()


def test_nested_tapes_give_derivatives_of_derivatives() -> None:
    x = Variable(0.7)
    with GradientTape() as third:
        with GradientTape() as second:
            with GradientTape() as first:
                y = np.exp(2 * x) * x
            dy = first.gradient(y, x)
        d2y = second.gradient(dy, x)
    d3y = third.gradient(d2y, x)
    e = np.exp(1.4)
    assert float(dy) == pytest.approx(e * (1 + 1.4))
    assert float(d2y) == pytest.approx(e * 4 * (1 + 0.7))
    assert float(d3y) == pytest.approx(e * (12 + 8 * 0.7))
    assert d3y.verdict is Verdict.CORRECT
    assert dy.verdict is Verdict.CORRECT


def test_a_gradient_inside_an_outer_tape_can_be_used_on() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape() as outer:
        with GradientTape() as inner:
            y = np.sum(x**3)
        penalty = np.sum(inner.gradient(y, x) ** 2)
    np.testing.assert_allclose(outer.gradient(penalty, x), 36 * np.array([1.0, 2.0]) ** 3)


def test_jacobian_has_the_shape_of_target_and_source() -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    x = Variable([1.0, 2.0, 3.0])
    with GradientTape() as tape:
        y = matrix @ x
    jacobian = tape.jacobian(y, x)
    np.testing.assert_array_equal(jacobian, matrix)
    assert jacobian.verdict is Verdict.CORRECT
    assert not jacobian.error.any()


def test_hessian_by_a_jacobian_of_a_gradient() -> None:
    x = Variable([0.5, -1.0])
    with GradientTape() as outer:
        with GradientTape() as inner:
            y = x[0] ** 2 * x[1] ** 3
        gradient = inner.gradient(y, x)
    a, b = 0.5, -1.0
    np.testing.assert_allclose(
        outer.jacobian(gradient, x), [[2 * b**3, 6 * a * b**2], [6 * a * b**2, 6 * a**2 * b]]
    )


def test_a_variable_assigned_to_on_the_way_counts_with_every_value() -> None:
    x = Variable(2.0)
    with GradientTape() as tape:
        y = x**2
        x.assign(10.0)
        z = y + x**2
    gradient = tape.gradient(z, x)
    assert gradient == 24.0
    assert gradient.verdict is Verdict.CORRECT


def test_a_variable_may_not_be_changed_in_place_while_a_tape_records() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape(), pytest.raises(TapeMisused, match="changed in place"):
        x[0] = 3.0
    x[0] = 3.0
    x -= 1.0
    assert isinstance(x, Variable)
    np.testing.assert_array_equal(x.numpy(), [2.0, 1.0])


def test_a_training_loop_reaches_the_minimum() -> None:
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(40, 3))
    targets = inputs @ np.array([1.0, -2.0, 0.5]) + 0.3
    w, b = Variable(np.zeros(3)), Variable(0.0)
    for _ in range(300):
        with GradientTape() as tape:
            loss = np.mean((inputs @ w + b - targets) ** 2)
        for parameter, gradient in zip((w, b), tape.gradient(loss, (w, b))):
            parameter.assign_sub(0.1 * gradient)
    np.testing.assert_allclose(w.numpy(), [1.0, -2.0, 0.5], atol=1e-3)


def test_constants_are_what_they_were_when_they_were_used() -> None:
    x, scale = Variable([1.0, 2.0]), np.array([3.0, 4.0])
    with GradientTape() as tape:
        y = np.sum(x * scale)
        scale[:] = 0.0
    gradient = tape.gradient(y, x)
    np.testing.assert_array_equal(gradient, [3.0, 4.0])
    assert gradient.verdict is Verdict.CORRECT


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gradients_have_the_dtype_of_their_source(dtype: type) -> None:
    x = Variable(np.array([0.5, 1.5]), dtype=dtype)
    with GradientTape() as tape:
        y = np.sum(np.where(x > 1, np.sqrt(x), x * 2) * np.tanh(x) / 3)
    gradient = tape.gradient(y, x)
    assert y.dtype == dtype
    assert gradient.dtype == dtype
    assert gradient.verdict is Verdict.CORRECT


def test_promotion_follows_numpy_and_gradients_come_back() -> None:
    a, b = Variable(np.array([1.0, 2.0], np.float32)), Variable([3.0, 4.0])
    with GradientTape() as tape:
        y = a * b + np.arange(2)
    assert y.dtype == np.float64
    of_a, of_b = tape.gradient(y, [a, b])
    assert (of_a.dtype, of_b.dtype) == (np.float32, np.float64)


def test_complex_sources_follow_the_convention_of_the_frameworks() -> None:
    z = Variable(np.array([1.0 + 2.0j, -0.5j]))
    with GradientTape() as tape:
        y = np.sum(np.abs(z) ** 2)
    gradient = tape.gradient(y, z)
    np.testing.assert_allclose(gradient, 2 * np.array([1.0 + 2.0j, -0.5j]))
    assert gradient.verdict is Verdict.CORRECT


def test_stop_gradient_cuts_one_path_only() -> None:
    x = Variable(3.0)
    with GradientTape() as tape:
        y = x * stop_gradient(x**2)
    gradient = tape.gradient(y, x)
    assert gradient == 9.0
    assert gradient.verdict is Verdict.CORRECT


def test_what_an_earlier_tape_recorded_is_constant_to_the_next() -> None:
    x, state = Variable(2.0), 1.0
    for _ in range(3):
        with GradientTape() as tape:
            state = state * x
        gradient = tape.gradient(state, x)
    assert gradient == 4.0  # the state of the second round, not a chain through all of them
    assert isinstance(state, Array)


def test_memory_does_not_grow_from_tape_to_tape() -> None:
    x, state, lengths, tapes = Variable(0.5), 1.0, [], []
    for _ in range(5):
        with GradientTape() as tape:
            state = np.tanh(state * x)
        tapes.append(tape)
        tape.gradient(state, x)
        lengths.append(len(ancestors([state._record])))
    assert lengths[1:] == [lengths[1]] * 4


def test_a_gradient_is_an_array() -> None:
    x = Variable([1.0, 2.0])
    with GradientTape() as tape:
        y = np.sum(x**2)
    gradient = tape.gradient(y, x)
    assert isinstance(gradient, np.ndarray)
    assert isinstance(gradient, Gradient)
    assert type(gradient * 2) is np.ndarray
    with pytest.raises(AttributeError, match="as the tape returned it"):
        _ = gradient[:1].error


def test_a_row_of_a_jacobian_is_recorded_without_the_others() -> None:
    """A Hessian of n parameters would otherwise be n programs with the ops of n rows each."""
    sizes = []
    for n in (2, 9):
        heard: list[Finished] = []
        x = Variable(np.linspace(0.1, 1.0, n))
        with GradientTape() as tape:
            y = np.sin(x) * x
        LISTENERS.append(heard.append)
        try:
            tape.jacobian(y, x)
        finally:
            LISTENERS.remove(heard.append)
        (whole,) = to_captures(heard[-1])
        assert whole.rows is not None
        for row, expected in zip(whole.rows.captures, np.diag(np.cos(x) * x + np.sin(x))):
            np.testing.assert_allclose(row.sources[0].observed, expected)
            assert row.gradient_program is not None
            sizes.append(len(row.gradient_program.nodes))
    assert len(set(sizes)) == 1
