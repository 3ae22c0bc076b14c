"""A file that is there whole or not at all: what was there before stays until the new one is complete."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from typing import Any


def replace_file(path: str, parts: Iterable[Any], is_durable: bool = True) -> None:
    """Durable means safe on the disk when this returns, whatever happens to the machine; it takes its time."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}.tmp")
    # Created as any new file is, with the rights that the user's mask leaves.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            if is_durable:
                os.fsync(file.fileno())
        if os.path.exists(path):
            os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C too leaves nothing behind
        os.unlink(temporary)
        raise
