"""Gradient tapes in eager mode: what they recorded, where, and under which names."""

from __future__ import annotations

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import gradproof
from gradproof.frontends.record.model import GradientCall, OpEvent
from gradproof.frontends.tensorflow.eager import recorder
from gradproof.frontends.tensorflow.hooks import observe

pytestmark = pytest.mark.tensorflow


def ops(call: GradientCall, phase: str) -> list[str]:
    return [event.op for event in call.events if event.phase == phase]


def source_text(event: OpEvent) -> str:
    """The piece of this file that an event points at."""
    assert event.span is not None
    with open(event.span.file) as file:
        line = file.readlines()[event.span.line - 1]
    return line[event.span.column : event.span.end_column]


def test_a_gradient_call_is_seen_with_its_ops_values_and_names():
    with observe() as seen:
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x * 3.0)
        tape.gradient(loss, x)
    (call,) = seen.calls
    assert call.targets[0].name == "loss"
    assert call.sources[0].name == "x"
    assert call.through == "tape.gradient"
    assert ops(call, "forward") == ["ReadVariableOp", "Mul", "Sum"]
    assert "Mul" in ops(call, "backward")
    assert call.observed[0].array.tolist() == [3.0, 3.0]
    mul = next(event for event in call.events if event.op == "Mul")
    assert mul.outputs[0].array.tolist() == [3.0, 6.0]
    assert source_text(mul) == "x * 3.0"
    assert mul.attrs["T"] == "float32"
    assert seen.failures == []


def test_every_backward_op_belongs_to_the_pullback_of_a_forward_op():
    with observe() as seen:
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sin(x) * x)
        tape.gradient(loss, x)
    (call,) = seen.calls
    sine = next(pullback for pullback in call.pullbacks if pullback.op == "Sin")
    assert call.events[sine.forward].op == "Sin"
    mine = [event.op for event in call.events if event.pullback == sine.id]
    assert mine == ["Cos", "Mul"]
    np.testing.assert_allclose(sine.results[0].array, np.cos([1.0, 2.0]) * [1.0, 2.0], rtol=1e-6)


def test_a_read_inside_an_op_is_traced_to_its_variable():
    """TensorFlow reads a variable given to `tf.sin` by itself, without telling anybody."""
    with observe() as seen:
        w, v = tf.Variable([0.5]), tf.Variable([0.5])
        with tf.GradientTape() as tape:
            y = tf.sin(v) + tf.cos(w)
        tape.gradient(y, [v, w])
    (call,) = seen.calls
    reads = {e.outputs[0].id: e.inputs[0].id for e in call.events if e.op == "ReadVariableOp"}
    sine, cosine = (next(e for e in call.events if e.op == op) for op in ("Sin", "Cos"))
    assert reads[sine.inputs[0].id] == call.sources[0].variable.id
    assert reads[cosine.inputs[0].id] == call.sources[1].variable.id


def test_a_read_after_an_assignment_belongs_to_the_same_variable():
    with observe() as seen:
        v = tf.Variable([0.5])
        with tf.GradientTape() as tape:
            before = tf.sin(v)
            v.assign_add([1.0])
            y = before + tf.sin(v)
        tape.gradient(y, v)
    (call,) = seen.calls
    reads = [e for e in call.events if e.op == "ReadVariableOp" and e.phase == "forward"]
    assert {e.inputs[0].id for e in reads} == {call.sources[0].variable.id}
    assert [e.outputs[0].array.tolist() for e in reads] == [[0.5], [1.5]]
    assert "AssignAddVariableOp" in ops(call, "forward")


def test_ops_outside_the_tape_are_kept_but_not_marked_as_recorded():
    with observe() as seen:
        w = tf.Variable(0.8)
        early = w * 2.0
        with tf.GradientTape() as tape:
            inside = early + w
        loss = inside**2
        tape.gradient(loss, w)
    (call,) = seen.calls
    assert call.observed == (None,)
    assert [event.op for event in call.older][-2:] == ["ReadVariableOp", "Mul"]
    recorded = {event.op: event.tapes for event in call.events}
    assert recorded["AddV2"] == (call.tape.id,)
    assert recorded["Pow"] == ()
    assert not call.unseen
    assert call.older[-1].index == -1


def test_a_tape_knows_what_it_watched_and_what_it_was_told():
    with observe() as seen:
        a, b = tf.constant(1.0), tf.Variable(2.0)
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch(a)
            y = a * b
            with tape.stop_recording():
                y * 2.0
        tape.gradient(y, [a, b], unconnected_gradients="zero")
        tape.gradient(y, a, output_gradients=tf.constant(5.0))
    first, second = seen.calls
    assert first.tape.persistent
    assert not first.tape.watch_accessed_variables
    assert [identity for identity, _ in first.tape.watched] == [first.sources[0].value.id]
    assert first.tape.watched_variables == ()
    assert first.tape.stopped_at
    assert first.unconnected_gradients == "zero"
    assert [one.array.tolist() for one in first.observed] == [2.0, 0.0]
    assert not first.tape.consumed
    assert second.tape.consumed
    assert second.output_gradients[0].array == 5.0
    assert second.observed[0].array == 10.0
    stopped = [e for e in first.events if e.op == "Mul" and e.phase == "forward"][1]
    assert stopped.tapes == ()


def test_an_inner_tape_is_forward_for_the_outer_one():
    with observe() as seen:
        x = tf.Variable(3.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = x**3
            slope = inner.gradient(y, x)
        outer.gradient(slope, x)
    first, second = seen.calls
    assert first.observed[0].array == 27.0
    assert second.observed[0].array == 18.0
    inner_ops = [event for event in second.events if first.id in event.within]
    assert inner_ops
    assert {event.phase for event in inner_ops} == {"forward"}
    assert all(second.tape.id in event.tapes for event in inner_ops)


def test_names_come_from_the_call_as_it_is_written():
    with observe() as seen:
        w, params = tf.Variable(1.0), {"b": tf.Variable(2.0), "a": tf.Variable(3.0)}
        things = [tf.Variable(4.0)]
        with tf.GradientTape() as tape:
            loss = w * params["a"] * params["b"] * things[0]
        tape.gradient(target=loss, sources=[w, params, things, {"k": w}])
    names = [source.name for source in seen.calls[0].sources]
    assert names == ["w", "params['a']", "params['b']", "things[0]", "w"]


def test_sparse_gradients_keep_their_rows():
    with observe() as seen:
        table = tf.Variable(tf.ones([4, 2]))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, [1, 1, 3]))
        tape.gradient(loss, table)
    (observed,) = seen.calls[0].observed
    assert observed.indices.array.tolist() == [1, 1, 3]
    assert observed.array.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_a_jacobian_is_one_call():
    with observe() as seen:
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            y = x * x
        tape.jacobian(y, x)
        with tf.GradientTape() as batch:
            batch.watch(z := tf.constant([[1.0, 2.0]]))
            y = z * z
        batch.batch_jacobian(y, z)
    assert [call.api for call in seen.calls] == ["jacobian", "batch_jacobian"]
    assert seen.calls[0].observed[0].array.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert seen.calls[1].observed[0].array.tolist() == [[[2.0, 0.0], [0.0, 4.0]]]


def test_numbers_that_leave_tensorflow_are_noted():
    with observe() as seen:
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = x * 3.0
            factor = float(y)
            if y > 1.0:
                loss = tf.constant(factor) * x
            y.numpy()
        tape.gradient(loss, x)
    hows = [leave.how for leave in seen.calls[0].leaves]
    assert hows == ["float()", "bool()", "numpy()"]
    assert seen.calls[0].leaves[0].value.array == 6.0
    assert seen.calls[0].events[seen.calls[0].leaves[0].index].op == "Greater"


def test_a_call_that_raises_is_a_record_with_the_exception():
    with observe() as seen:
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = x * 3.0
        tape.gradient(y, x)
        with pytest.raises(RuntimeError):
            tape.gradient(y, x)
    first, second = seen.calls
    assert first.exception is None
    assert second.exception.startswith("RuntimeError: A non-persistent GradientTape")
    assert second.observed == ()
    assert second.tape.consumed


def test_a_tape_in_which_the_program_crashed_can_be_looked_at():
    with observe() as seen:
        x = tf.Variable(0.5)
        tape = tf.GradientTape()
        with tape:
            condition, half = tf.cast(x > 0.5, tf.float32), x / 2.0
            with pytest.raises(tf.errors.InvalidArgumentError):
                tf.where(condition, x, half)
        (open_tape,) = seen.open_tapes()
    assert [event.op for event in open_tape.events][-1] == "RealDiv"
    assert seen.calls == []


def test_a_tape_that_ends_forgets_what_it_held():
    with observe() as seen:
        x = tf.Variable(2.0)
        with tf.GradientTape(persistent=True) as tape:
            y = x * 3.0
        tape.gradient(y, x)
        assert seen.recorder.collections == []
        del tape
        for _ in range(6000):
            y = y + 1.0
        assert len(seen.recorder.ring.events) <= 4096
        assert not seen.recorder.ring.complete


def test_a_variable_whose_rows_were_gathered_is_still_found_when_it_is_read_as_a_whole():
    """Reads of such a variable are copies, so their addresses say nothing."""
    with observe() as seen:
        w, same = tf.Variable([[0.5], [1.5]]), tf.constant([[0.5], [1.5]])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.nn.embedding_lookup(w, [1])) + tf.reduce_sum(w) + tf.reduce_sum(same)
        tape.gradient(y, w)
    (call,) = seen.calls
    reads = [event for event in call.events if event.op == "ReadVariableOp"]
    sums = [event for event in call.events if event.op == "Sum" and event.phase == "forward"]
    assert [read.inputs[0].id for read in reads] == [call.sources[0].variable.id]
    assert reads[0].outputs[0].id == sums[1].inputs[0].id


def test_a_rule_that_needs_no_tensors_is_matched_by_the_gradient_that_came_in():
    with observe() as seen:
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            first = -tf.sin(x)
            second = -tf.cos(x)
            loss = tf.reduce_sum(first * second + first)
        tape.gradient(loss, x)
    (call,) = seen.calls
    rules = [pullback for pullback in call.pullbacks if pullback.op == "Neg"]
    found = {call.events[rule.forward].span.line for rule in rules}
    made = {event.span.line for event in call.events if event.op == "Neg" and event.phase == "forward"}
    assert len(rules) == 2 and found == made


def test_a_number_equal_to_the_start_value_of_a_variable_is_not_a_read_of_it():
    with observe() as seen:
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = tf.pow(x, 2.0) * 2.0
        tape.gradient(y, x)
        x.assign(0.5)
        with tf.GradientTape() as tape:
            y = x * 0.5
        tape.gradient(y, x)
    for call in seen.calls:
        assert ops(call, "forward").count("ReadVariableOp") == 1
    assert x.numpy() == 0.5


def test_a_constant_with_the_numbers_of_a_gathered_variable_is_not_a_read_of_it():
    with observe() as seen:
        x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        with tf.GradientTape() as tape:
            rows = tf.gather_nd(x, [[0, 1]])
            y = tf.reduce_sum(rows) + tf.reduce_sum(tf.sin(x) * [[1.0, 2.0], [3.0, 4.0]])
        tape.gradient(y, x)
    (call,) = seen.calls
    assert ops(call, "forward").count("ReadVariableOp") == 1


def test_what_a_tape_ran_for_other_gradients_is_not_in_the_record_of_one():
    """A Jacobian by rows must not be recorded again with each of its rows; what a call was given belongs to it."""
    with observe() as seen:
        x = tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape(persistent=True) as tape:
            y = tf.sin(x) * x
            rows = tf.unstack(y)
        tape.gradient(rows[0], x)
        tape.gradient(rows[1], x)
        outer = tape.gradient(rows[2], x)
        tape.gradient(y, x, output_gradients=outer)
        tape.gradient(outer, x)
    first, second, third, weighted, outside = seen.calls
    assert (
        len(second.events) == len(third.events) <= len(first.events) + 1
    )  # zeros that are kept for all calls
    assert len(first.pullbacks) == len(second.pullbacks) == len(third.pullbacks)
    assert len(weighted.events) > len(first.events)
    assert outside.observed == (None,)
    assert {event.op for event in outside.events} >= {"Cos"}
    assert seen.failures == []


@pytest.mark.parametrize("from_source", [True, False])
def test_what_is_older_than_the_record_is_not_said_to_come_from_nowhere(monkeypatch, from_source):
    monkeypatch.setattr(recorder, "RING_EVENTS", 20)
    other = tf.constant([3.0, 4.0])  # older than `w`, so that it cannot come from it
    w = tf.Variable([1.0, 2.0])
    with gradproof.watch() as report:
        early = w * 2.0 if from_source else other
        count = tf.zeros([])
        for _ in range(30):
            count = count + 1.0
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(early**2)
        tape.gradient(loss, w)
    ((found,),) = (gradient.diagnostics for gradient in report.gradients)
    assert found.kind == "not-connected"
    assert ("no op in the record" in found.headline) == from_source
    assert ("was not computed from it" in found.headline) == (not from_source)
