"""A process that is shut off: real files stay as they are, and nobody can be called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gradproof.audit import isolation

SCRIPT = """
import os, runpy, socket, sys
module = runpy.run_path({path!r})
{weaken}
print(module["isolate"]({scratch!r}, [{layer!r}]))
for file in ({inside!r}, {outside!r}):
    try:
        with open(file, "a") as stream:
            stream.write("more")
        print(open(file).read())
    except OSError as error:
        print("refused")
try:
    socket.create_connection(({host!r}, {port}), 5)
    print("connected")
except OSError:
    print("no connection")
"""
WITHOUT_NAMESPACES = "module['isolate'].__globals__['_namespaces'] = lambda *_: ()"


def shut_off(folder: Path, weaken: str) -> list[str]:
    import socket

    inside, outside, scratch = folder / "layer" / "file", folder / "file", folder / "scratch"
    for made in (inside.parent, scratch):
        made.mkdir()
    inside.write_text("was ")
    outside.write_text("was ")
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        text = SCRIPT.format(
            path=isolation.__file__,
            scratch=str(scratch),
            layer=str(inside.parent),
            inside=str(inside),
            outside=str(outside),
            host=host,
            port=port,
            weaken=weaken,
        )
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert inside.read_text() == outside.read_text() == "was ", done.stdout
    return done.stdout.splitlines()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="namespaces and Landlock are Linux's")
@pytest.mark.parametrize("weaken", ["", WITHOUT_NAMESPACES], ids=["namespaces", "landlock"])
def test_files_stay_as_they_are_and_nobody_is_called(weaken: str, tmp_path: Path) -> None:
    said, inside, outside, network = shut_off(tmp_path, weaken)
    if "no network" not in said or "files read-only" not in said:
        pytest.skip(f"this system allows less: {said}")
    assert outside == "refused" and network == "no connection"
    assert inside == ("refused" if weaken else "was more")
