"""mpmath values of the ops on shapes that are not linear in their derivative."""

from __future__ import annotations

REFERENCES = {"stop_gradient": lambda x: x}
