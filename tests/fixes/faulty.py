"""Faulty scripts by framework and family, read from `scripts/`: what `--fix` is held against.

A script begins with a line `### family: name`; `### nightly family: name` for one of the
nightly size only. What every script of a framework imports is put ahead of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FAMILIES = ("missing", "not finite", "rounding", "the user's rule", "a library's rule", "state")
HEADS = {
    "tensorflow": "import tensorflow as tf\n",
    "torch": "import torch\n",
    "jax": "import jax\nimport jax.numpy as jnp\n",
    "numpy": "import numpy as np\n\nimport gradproof\n",
}
_HEADING = re.compile(r"^### (nightly )?(.*?): (.*)\n", re.MULTILINE)


@dataclass(frozen=True)
class FaultyScript:
    framework: str
    family: str
    name: str
    text: str
    is_nightly: bool

    @property
    def id(self) -> str:
        return f"{self.framework}-{self.family}-{self.name}"


def _read(framework: str) -> list[FaultyScript]:
    text = (Path(__file__).parent / "scripts" / f"{framework}.txt").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    return [
        FaultyScript(framework, family, name, f"{HEADS[framework]}{body.rstrip()}\n", nightly is not None)
        for nightly, family, name, body in zip(*(parts[k::4] for k in range(4)))
    ]


SCRIPTS = tuple(script for framework in HEADS for script in _read(framework))

# What no way of mending is known for yet, by framework and name.
UNMENDED = frozenset(
    {
        ("tensorflow", "softmax by hand overflow"),
        ("torch", "std of a constant batch"),
        ("jax", "power of zero"),
        ("jax", "variance by moments"),
        ("jax", "log sum exp without shift in the rule"),
    }
)
