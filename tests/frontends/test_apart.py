"""Modes in a process of their own: they return what this process does, end when asked, and fail with a reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from gradproof.frontends import apart as module
from gradproof.frontends.apart import Setting, apart, ended, with_one_thread
from gradproof.ir.program import Builder, Program
from gradproof.modes.feed import feed
from gradproof.modes.model import NotRun
from gradproof.modes.rows import gradients_in, returns_again
from gradproof.tape.modes import MODES


@pytest.fixture(autouse=True)
def _no_child_stays() -> Iterator[None]:
    with ended():
        yield


def _squares() -> Program:
    builder = Builder()
    x = builder.input(np.array([1.0, 2.0, 3.0]))
    square = builder.add("square", x, dtype="float64", shape=(3,))
    return builder.build([builder.add("sum", square, params={"axes": (0,)}, dtype="float64", shape=())])


def test_another_process_returns_what_this_one_does() -> None:
    program = _squares()
    mode = with_one_thread(apart(MODES[0], Setting((("ANY", "thing"),))))
    value, (gradient,) = gradients_in(mode, program, program.inputs)
    assert value == 14 and gradient is not None and gradient.tolist() == [2, 4, 6]
    assert mode.values(feed(program, [1]), [1])[0].tolist() == [1, 4, 9]
    assert mode.rethreaded is not None
    rethreaded = partial(gradients_in, mode.rethreaded, program, program.inputs)
    assert returns_again(rethreaded, (value, [gradient])) is True
    pids = [child.process.pid for child in module._children.values()]
    assert len(pids) == 2 and os.getpid() not in pids
    children = list(module._children.values())
    with ended():
        pass
    assert not module._children and all(child.process.poll() is not None for child in children)


def test_what_cannot_be_done_there_has_a_reason() -> None:
    program = _squares()
    mode = apart(replace(MODES[0], framework="numpy"), Setting(), name="elsewhere")
    fed = feed(program, program.outputs)
    with pytest.raises(NotRun, match="cannot be handed to a process of its own"):
        mode.gradient(replace(fed, literals={0: lambda: None}), 2, [0])
    with pytest.raises(NotRun, match="in a process of its own: KeyError"):
        mode.gradient(fed, 99, [0])
    (child,) = module._children.values()
    child.process.kill()
    with pytest.raises(NotRun, match="ended or did not answer"):
        mode.gradient(fed, 2, [0])
