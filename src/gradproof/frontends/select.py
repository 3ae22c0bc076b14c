"""Which frontend serves a program or an argument; the only file that names the frontends."""

from __future__ import annotations

from gradproof.frontends.attachment import Attachment, Policy, Receiver
from gradproof.frontends.tensorflow.attach import attach as attach_tensorflow
from gradproof.tape.attach import attach as attach_tapes

# Each can be attached before its framework is imported, and imports nothing of it until then.
_ATTACH = (attach_tapes, attach_tensorflow)


def attach_all(receiver: Receiver, policy: Policy) -> list[Attachment]:
    """Listen to every framework that the program uses, from the moment it imports it."""
    return [attach(receiver, policy) for attach in _ATTACH]
