"""A fault of gradproof itself, as the reason why a gradient was not judged."""

from __future__ import annotations

import os
import traceback


def fault_reason(error: Exception) -> str:
    """One sentence with the exception and the place in gradproof, which is what a report of the fault needs."""
    trace = traceback.extract_tb(error.__traceback__)
    place = f", in {os.path.basename(trace[-1].filename)}:{trace[-1].lineno}" if trace else ""
    return f"a fault of gradproof ({type(error).__name__}: {error}{place}); please report it"
