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
        ("jax", "variance by moments"),
    }
)

# For each kind of fix a script of the gate to which it is offered.
SHOWN = {
    "bounded-argument": "torch-not finite-entropy of a model's probabilities in a helper",
    "cast-once": "torch-rounding-bf16",
    "counterparts": "numpy-missing-math",
    "cut-history": "torch-state-history",
    "divisor-at-zero": "numpy-not finite-a quotient of zeros whose value is written beside it",
    "drawn-with-a-graph": "torch-missing-numbers drawn by sample",
    "finite-mask": "torch-not finite-attention with a row that is masked as a whole",
    "floats": "torch-missing-integer weights",
    "guarded-branch": "numpy-not finite-where with log",
    "harmless-input": "torch-not finite-where",
    "inside-the-tape": "numpy-missing-after the block",
    "made-a-leaf": "torch-missing-requires",
    "new-tensor": "torch-missing-added in place",
    "norm-at-zero": "jax-not finite-normalise zero vector",
    "one-shape": "numpy-not finite-a column less a row, beside an overflow",
    "other-formula": "tensorflow-not finite-likelihood with a sigmoid by hand in a graph",
    "own-functions": "torch-missing-a parameter by float",
    "own-leaf": "torch-missing-leaf",
    "passed-as-argument": "tensorflow-state-a frozen temperature beside an overflow",
    "retained-gradient": "torch-missing-a tensor computed from a leaf under its name",
    "root-at-zero": "torch-not finite-distances of which the largest are taken",
    "scaled-loss": "tensorflow-rounding-products in float16",
    "slice-first": "numpy-not finite-logarithms of which one is used",
    "slopes-by-differences": "tensorflow-a library's rule-betainc",
    "smooth-part": "tensorflow-not finite-xlogy",
    "smooth-substitute": "torch-not finite-norm",
    "soft-choice": "tensorflow-missing-one of three, marked as the largest",
    "stacked": "torch-missing-torch.tensor of a list of tensors",
    "step-in-place": "torch-state-a leaf whose name is given to the result of its step",
    "stored-value": "tensorflow-missing-assign inside the tape",
    "straight-through": "numpy-missing-rounding",
    "uncompiled": "tensorflow-state-two variables",
    "wider-dtype": "torch-rounding-a cast to 16 bits on the way",
    "wider-expression": "numpy-rounding-float32 offset",
    "wider-part": "torch-rounding-a cast to 16 bits on the way",
    "wider-program": "numpy-rounding-float32 offset",
    "wider-script": "torch-rounding-expm1",
    "without-rule": "jax-the user's rule-other",
    "without-rule-class": "torch-the user's rule-gelu with a wrong term",
    "without-stop": "torch-missing-detach",
    "zeroed-gradient": "torch-state-zero_grad",
}
