"""The graph of a function that another graph calls by its name."""

from __future__ import annotations

from typing import Any

from tensorflow.python.framework.function_def_to_graph import function_def_to_graph

_BODY = "_gradproof_body"


def body_of(graph: Any, name: str) -> Any:
    """The own graph of a function; one of the older kind (`Defun`, as in `ctc_loss`) is built from its definition."""
    function = graph._get_function(name)
    if hasattr(function, "graph"):
        return function.graph
    if not hasattr(function, _BODY):
        with graph.as_default():
            setattr(function, _BODY, function_def_to_graph(function.cached_definition))
    return getattr(function, _BODY)
