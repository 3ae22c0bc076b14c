"""Listening to PyTorch programs: the gradient calls they make, as captures."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import CodeType
from typing import TYPE_CHECKING, cast

from gradproof.frontends.attachment import Attachment, Crash, Policy, Receiver
from gradproof.frontends.record.attaching import attach_on_import
from gradproof.ir.span import Span

if TYPE_CHECKING:
    from gradproof.frontends.record.model import GradientCall
    from gradproof.frontends.torch.record.observation import TorchObservation


def attach(receiver: Receiver, policy: Policy) -> Attachment:
    """Listen as soon as PyTorch is there; it is not imported here."""

    def begin() -> tuple[TorchObservation, Callable[[], None]]:
        # Only now: these modules import PyTorch.
        from gradproof.frontends.assemble.captures import to_captures
        from gradproof.frontends.assemble.unread import unread
        from gradproof.frontends.torch.record.observation import TorchObservation

        def deliver(call: GradientCall) -> None:
            receiver(lambda: to_captures(call), lambda reason: unread(call, reason))

        observation = TorchObservation(deliver, policy)
        return observation, observation.install()

    return attach_on_import(
        "torch", begin, _place, crashed=_crashed, ended=_ended, remarked=lambda one: one.unstepped.remarks()
    )


def _ended(observation: TorchObservation) -> None:
    observation.tell_the_rest()


def _crashed(observation: TorchObservation, error: BaseException) -> Crash | None:
    from gradproof.frontends.torch.crash import explain
    from gradproof.frontends.torch.prevented import prevented

    known = explain(error, observation.has_told(error))
    capture = None if known is None or known.diagnostic is None else prevented(error, known.diagnostic)
    return known if capture is None else Crash(None, (capture,))  # one fault is told once


def _place(key: Hashable) -> Span | None:
    code, line = cast(tuple[CodeType, int], key)
    return Span(code.co_filename, int(line))
