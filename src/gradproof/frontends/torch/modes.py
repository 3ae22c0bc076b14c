"""The ways PyTorch has of running a program that are tried beside each other; compiling takes too long to be one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradproof.ir.program import Program

MODES: Mapping[str, Callable[[Program, int], Any]] = {}
