"""Installing the hooks on JAX and taking them out again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from jax._src import source_info_util

import gradproof
from gradproof.frontends.jax.observe.compiled import CompiledFunctions
from gradproof.frontends.jax.observe.eager import JaxGradients
from gradproof.frontends.jax.observe.refusals import Refusal, Refusals
from gradproof.frontends.jax.observe.session import JaxSession, lenient
from gradproof.frontends.record.patches import apply

_INSTALLED: list[JaxSession] = []


@contextmanager
def unobserved() -> Iterator[None]:
    """What runs in this block is not the program's own: nobody who is listening already hears of it, and it neither
    stops at NaN nor says so in the program's output."""
    with ExitStack() as stack:
        stack.enter_context(lenient())
        for session in _INSTALLED:
            stack.enter_context(session.silence())
        yield


def install(session: JaxSession, refused: Callable[[Refusal], None]) -> Callable[[], None]:
    """Put the hooks in; returns what takes them out. No public object of JAX is replaced."""
    compiled = CompiledFunctions(session)
    refusals = Refusals(session, refused)
    session.is_told, session.unfinished, session.lost = refusals.is_told, compiled.unfinished, compiled.lost
    remove = apply(
        [
            *JaxGradients(session, compiled, refusals).patches(),
            *compiled.patches(),
            *refusals.patches(),
            *session.narrowed.patches(),
        ]
    )

    _INSTALLED.append(session)
    show_frames = _hide_own_frames()

    def uninstall() -> None:
        show_frames()
        _INSTALLED[:] = [one for one in _INSTALLED if one is not session]
        compiled.close()
        remove()

    return uninstall


def _hide_own_frames() -> Callable[[], None]:
    """JAX names the user's line for every step, and our hooks are none of the user's; returns what takes it back."""
    own = str(Path(gradproof.__file__).parent)
    is_new = own not in source_info_util._exclude_paths
    if is_new:
        source_info_util.register_exclusion(own)

    def show() -> None:
        if is_new:
            source_info_util._exclude_paths.remove(own)
            source_info_util._exclude_path_regex.cache_clear()
            source_info_util.is_user_filename.cache_clear()

    return show
