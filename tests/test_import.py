"""The public names: all there, found lazily, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gradproof


def test_every_public_name_is_there_and_listed() -> None:
    for name in gradproof.__all__:
        assert getattr(gradproof, name) is not None
        assert name in dir(gradproof)
    assert callable(gradproof.check)
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        gradproof.chek  # noqa: B018


def test_checking_a_numpy_function_imports_no_framework() -> None:
    code = (
        "import sys, numpy, gradproof\n"
        "assert not {'scipy', 'flint', 'rich'} & set(sys.modules)\n"
        "import gradproof.cli.run\n"
        "assert not {'scipy.special', 'scipy.linalg', 'gradproof.tape'} & set(sys.modules)\n"
        "print(gradproof.check(lambda x: x * x, 3.0).verdicts)\n"
        "assert not {'tensorflow', 'keras', 'jax', 'torch'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "CORRECT" in done.stdout
