"""Installing the hooks on TensorFlow and taking them out again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorflow.python.framework import ops as tf_ops

from gradproof.frontends.tensorflow.listening import Listener
from gradproof.frontends.tensorflow.observation import Observation, Receiver
from gradproof.frontends.tensorflow.sampling import Policy, by_powers_of_ten
from gradproof.frontends.tensorflow.tapes import Patch, Tapes


@contextmanager
def observe(policy: Policy = by_powers_of_ten, receiver: Receiver | None = None) -> Iterator[Observation]:
    """See the gradients that are computed in this block; the program itself runs as it would without."""
    observation = Observation(policy, receiver)
    remove = install(observation)
    try:
        yield observation
    finally:
        remove()


def install(observation: Observation) -> Any:
    """Put the hooks in; returns what takes them out."""
    listener = Listener(observation, lambda *_: None)
    tapes = Tapes(observation, listener, None)
    patches: list[Patch] = [*tapes.patches(), (tf_ops._EagerTensorBase, "_numpy", _method(listener.on_numpy))]
    originals = [(owner, name, owner.__dict__[name]) for owner, name, _ in patches]
    for owner, name, replacement in patches:
        setattr(owner, name, replacement)
    listener.update()

    def remove() -> None:
        for owner, name, original in originals:
            setattr(owner, name, original)
        listener.stop()

    return remove


def _method(function: Any) -> Any:
    """A bound method as a plain function, so that Python binds it to the tensor."""
    return lambda tensor: function(tensor)
