"""Every device has a mode of its own where there are several: tried with two that are the one processor."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_TRIED = """
import numpy as np
from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for, modes_offered
from gradproof.modes.rows import gradients_in
modes, lacking = modes_offered(FRAMEWORK, True)
(capture,) = frontend_for((X,), {}).check(Request(F, (X,))).captures
for mode in modes:
    if " on " in mode.name:
        value, (gradient,) = gradients_in(mode, capture.program, [capture.sources[0].node])
        print(mode.name, value, gradient)
print([one.name for one in lacking if "accelerator" in one.name])
"""
_WITH = {
    "jax": "import jax\nFRAMEWORK, X, F = 'jax', jax.numpy.array([1.0, 2.0]), lambda x: (x * x).sum()\n",
    "tensorflow": "import tensorflow as tf\n"
    "one = tf.config.LogicalDeviceConfiguration()\n"
    "tf.config.set_logical_device_configuration(tf.config.list_physical_devices('CPU')[0], [one, one])\n"
    "FRAMEWORK, X, F = 'tensorflow', tf.constant([1.0, 2.0]), lambda x: tf.reduce_sum(x * x)\n",
}
_NAMES = {
    "jax": ("jit on cpu:0", "jit on cpu:1"),
    "tensorflow": ("eager on /device:CPU:0", "eager on /device:CPU:1"),
}


@pytest.mark.parametrize("framework", _WITH)
def test_each_of_two_devices_has_a_mode(framework: str) -> None:
    pytest.importorskip(framework)
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run(
        [sys.executable, "-c", _WITH[framework] + _TRIED], env=environment, capture_output=True, text=True
    )
    lines = done.stdout.splitlines()
    assert lines == [*(f"{name} 5.0 [2. 4.]" for name in _NAMES[framework]), "['an accelerator']"], (
        done.stderr
    )
