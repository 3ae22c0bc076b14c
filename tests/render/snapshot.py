"""Expected outputs kept beside the tests; GRADPROOF_ACCEPT=1 writes them anew."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def assert_snapshot(name: str, text: str) -> None:
    """The text equals the file of that name."""
    path = FOLDER / name
    if os.environ.get("GRADPROOF_ACCEPT"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{name} has no expected output; GRADPROOF_ACCEPT=1 writes it"
    assert text == path.read_text(encoding="utf-8")
