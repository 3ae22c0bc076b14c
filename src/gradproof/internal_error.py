"""What went wrong with a check itself, as the reason why a gradient was not judged: a fault of ours, or no memory."""

from __future__ import annotations

import os
import traceback

from gradproof.errors import our_fault

# What Python and the frameworks call it. By name, since no framework is imported for the question.
_OUT_OF_MEMORY = ("MemoryError", "OutOfMemoryError", "ResourceExhaustedError")
_OUT_OF_MEMORY_SAID = ("RESOURCE_EXHAUSTED", "out of memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory was lacking, whoever asked for it."""
    if any(kind.__name__ in _OUT_OF_MEMORY for kind in type(error).__mro__):
        return True
    return isinstance(error, RuntimeError) and any(said in str(error) for said in _OUT_OF_MEMORY_SAID)


def fault_reason(error: Exception, doing: str = "") -> str:
    """One sentence with the exception and the place in gradproof, which is what a report of the fault needs.

    `doing` says what was being done, such as the meaning of which op was looked for.
    """
    if is_out_of_memory(error):
        said = str(error).strip().partition("\n")[0]
        return "the check ran out of memory" + (f" ({said})" if said else "")
    trace = traceback.extract_tb(error.__traceback__)
    place = f", in {os.path.basename(trace[-1].filename)}:{trace[-1].lineno}" if trace else ""
    return our_fault(f"{doing}{': ' if doing else ''}{type(error).__name__}: {error}{place}")


def fault_note(trace: str) -> str:
    """The same from a traceback, where no gradient can carry it: a note of the report."""
    said = trace.strip().splitlines()[-1]
    if said.partition(":")[0].rpartition(".")[2] in _OUT_OF_MEMORY:
        return f"a check ran out of memory ({said.partition(':')[2].strip() or said}); gradients may have been missed"
    return (
        f"a fault of gradproof, not of the program: {said}; gradients may have been missed; please report it"
    )
