"""Files written whole or not at all: what was there before stays until the new text is safe on the disk."""

from __future__ import annotations

import os
import stat

from gradproof.errors import NotWritten
from gradproof.whole_file import replace_file

_STREAMS = ("/dev/", "/proc/")  # where a path names an open stream, which a new file cannot replace


def write_whole(text: str, path: str) -> None:
    """The file holds the text afterwards, or what it held before and `NotWritten` is raised."""
    data = text.encode("utf-8", "replace")  # a name from outside may have halves of characters in it
    try:
        if is_stream(path):
            with open(path, "wb") as stream:
                stream.write(data)
        else:
            # The file behind a link, since the link itself is not what the user wants replaced.
            replace_file(os.path.realpath(path), [data])
    except OSError as error:
        raise NotWritten(f"`{path}` could not be written: {error.strerror or error}") from error


def is_stream(path: str) -> bool:
    """Pipes and devices cannot be replaced, and hold nothing that could be lost."""
    if os.path.abspath(path).startswith(_STREAMS):
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False
