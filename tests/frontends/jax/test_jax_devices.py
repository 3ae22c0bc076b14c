"""What several devices compute together: gradients around `shard_map` and inside of it, `pmap`, communication."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("two_devices.py")


@pytest.fixture(scope="module")
def found():
    """JAX is told once per process how many devices there are."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    environment = {**os.environ, "XLA_FLAGS": flags}
    done = subprocess.run(
        [sys.executable, SCRIPT], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_verdicts(found):
    assert {name: one["verdicts"] for name, one in found.items()} == {
        name: [one["expected"]] for name, one in found.items()
    }


def test_nothing_is_changed(found):
    assert [name for name, one in found.items() if not one["is_untouched"]] == []


def test_reasons_are_plain(found):
    assert "ran without `jit`" in found["without jit"]["reasons"][0]
    assert "pass it to the function that is mapped" in found["inside, untyped, from outside"]["reasons"][0]
