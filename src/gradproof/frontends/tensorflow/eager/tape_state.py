"""What is known of one of the user's tapes while it is followed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradproof.frontends.record.sites import Site
from gradproof.frontends.record.source import Place
from gradproof.frontends.tensorflow.eager.recorder import Collection


@dataclass(eq=False)
class TapeState:
    """One tape of the user that will be looked at."""

    collection: Collection
    site: Site
    entered: tuple[Place, ...]
    persistent: bool
    watch_accessed_variables: bool
    watched: list[tuple[int, tuple[Place, ...]]] = field(default_factory=list)
    reset_at: list[tuple[int, tuple[Place, ...]]] = field(default_factory=list)
    stopped_at: list[Place] = field(default_factory=list)
    consumed: bool = False
    held: dict[Any, list[int]] = field(
        default_factory=dict
    )  # ops recorded at each call, by the place of the call

    @property
    def id(self) -> int:
        return self.collection.id
