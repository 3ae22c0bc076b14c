"""Cells of a notebook: their code has made-up file names, which a reader knows as `In[3]`."""

from __future__ import annotations

import sys


def cell_name(file: str) -> str | None:
    """`In[3]` for the file name that IPython gave to the code of the third cell; None for any other file.

    IPython is asked only where a program runs in it; nothing is imported for this.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    label = getattr(getattr(shell, "compile", None), "format_code_name", None)
    if label is None:
        return None
    named: tuple[str, str] | None = label(file)
    return None if named is None else named[1]
