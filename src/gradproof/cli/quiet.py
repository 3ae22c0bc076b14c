"""Environments in which frameworks say nothing about themselves when they are imported.

Only for commands that import a framework of their own accord: a user's script speaks as it would without us.
"""

from __future__ import annotations

# Messages of TensorFlow's C++ parts; the one about oneDNN comes before the level is looked at, unless it is off.
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
