"""Who asked for a derivative: the user's line, JAX's function between, and which arguments are meant."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from jax._src import api, core, pjit, tree_util
from jax._src.interpreters import partial_eval as pe

from gradproof.frontends.jax.observe.peel import ground
from gradproof.frontends.record.source import MAX_STACK, Place, argument, call_at, is_ours, is_users, span_of

_API_FILE, _JIT_FILE = api.__file__, pjit.__file__
_TRACING = (pe.__file__, "trace_to_jaxpr")
# The functions that JAX's transformations return, by the name of their code, and what the user calls them.
_RETURNED = {
    "value_and_grad.<locals>.value_and_grad_f": "grad",
    "jacrev.<locals>.jacfun": "jacrev",
    "jacfwd.<locals>.jacfun": "jacfwd",
    "jvp": "jvp",
}


@dataclass(frozen=True, eq=False)
class JaxAsked:
    """One call for a derivative. `arguments` are the places of the arguments meant, None where nobody knows."""

    api: str
    places: tuple[Place, ...]
    function: Any
    arguments: tuple[int, ...] | None = None
    is_direct: bool = False  # the user's own line called it, not a library's
    names: tuple[str, ...] | None = None  # of the leaves, where somebody knows better than the line

    def site(self) -> tuple[CodeType | None, int]:
        return (None, 0) if not self.places else (self.places[0][0], self.places[0][1])


def asked_by(frame: FrameType | None, traceable: Any) -> JaxAsked:
    """Read off the frames above one of JAX's own functions.

    Inside a function that is being traced, the lines outside of it are those of whoever calls it, which is not
    always who has it traced: they are left out.
    """
    api_name, function, arguments, is_direct = "vjp", traceable, None, True
    places: list[Place] = []
    outside = len(places)
    while frame is not None:
        code = frame.f_code
        if is_users(code.co_filename):
            places.append((code, frame.f_lasti))
        elif _is_entrance(code):
            outside = len(places)
        elif not places and code.co_filename == _API_FILE and code.co_qualname in _RETURNED:
            # Of several, one around the other, the innermost has asked, unless a library in between asks by itself.
            if api_name == "vjp" and is_direct:
                api_name = _RETURNED[code.co_qualname]
                function = frame.f_locals.get("fun", function)
                arguments = _positions(frame)
        elif not places and not code.co_filename.endswith(_BETWEEN) and not is_ours(code.co_filename):
            is_direct = False
        frame = frame.f_back
    is_staged = not isinstance(ground(core.trace_ctx.trace), core.EvalTrace)
    kept = places[:outside] if is_staged else places
    return JaxAsked(api_name, tuple(kept[:MAX_STACK]), function, arguments, is_direct)


def _is_entrance(code: CodeType) -> bool:
    """Whether tracing begins here: of what `jit` compiles, or of the body of a loop in eager code."""
    return (code.co_filename, code.co_name) in ((_JIT_FILE, "cache_miss"), _TRACING)


_SEP = "/" if "/" in _API_FILE else "\\"
_ROOMS = ("lax", "numpy", "nn", "scipy/special", "random", "custom_derivatives")
_LIBRARY = tuple(f"{_SEP}jax{_SEP}_src{_SEP}{one.replace('/', _SEP)}" for one in _ROOMS)
# Of JAX's files, those that lie between the user's line and the function it calls.
_BETWEEN = tuple(
    f"jax{_SEP}_src{_SEP}{one}.py"
    for one in (
        "api",
        "traceback_util",
        "linear_util",
        "api_util",
        "pjit",
        "core",
        "tree_util",
        "ad_checkpoint",
        f"interpreters{_SEP}partial_eval",
        f"interpreters{_SEP}batching",
    )
)
_PASSING_ON = (f"jax{_SEP}_src{_SEP}api.py", f"jax{_SEP}_src{_SEP}traceback_util.py")


def is_called_by_a_rule(frame: FrameType | None) -> bool:
    """Whether it is the derivative rule of one of JAX's own functions that asks, as that of `cumprod` does."""
    while frame is not None and frame.f_code.co_filename.endswith(_PASSING_ON):
        frame = frame.f_back
    return frame is not None and any(one in frame.f_code.co_filename for one in _LIBRARY)


def _positions(frame: FrameType) -> tuple[int, ...] | None:
    numbers = frame.f_locals.get("argnums")
    if numbers is None:
        return None
    n_args = len(frame.f_locals.get("args", ()))
    return tuple(k % n_args if n_args else k for k in ((numbers,) if isinstance(numbers, int) else numbers))


def function_name(function: Any) -> str:
    """What the user calls a function; a partial one goes by the function it is made of."""
    while True:
        inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
        if inner is None or inner is function:
            break
        function = inner
    name = getattr(function, "__name__", type(function).__name__)
    return "target" if name == "<lambda>" else str(name)


def source_names(asked: JaxAsked, tree: Any, paths: Sequence[Any], caller: Sequence[Place] = ()) -> list[str]:
    """One name per leaf of what was differentiated for, as the user's line spells it.

    The first key of a path is the place among the arguments meant, the rest is the way into that argument.
    """
    if asked.names is not None:
        return list(asked.names)
    heads = [_head(asked, k, (*asked.places, *caller)) for k in range(len(tree.children()))]
    names = []
    for path in paths:
        place = path[0].idx if path and isinstance(path[0], tree_util.SequenceKey) else 0
        names.append(heads[place] + tree_util.keystr(path[1:]))
    return names


def _head(asked: JaxAsked, k: int, places: Sequence[Place]) -> str:
    position = k if asked.arguments is None else asked.arguments[k]
    parameter = _parameter(asked.function, position)
    call = call_at(span_of(places[0])) if places and asked.is_direct else None
    if asked.api == "vjp" and asked.arguments is None:
        return parameter  # the line that calls the pullback names its weights, not these
    node = _primal(call, position) if asked.api == "jvp" else argument(call, position, parameter)
    if node is None:
        return parameter
    text = ast.unparse(node)
    return text if text.isidentifier() or _is_path(text) else parameter


def _primal(call: ast.Call | None, position: int) -> ast.expr | None:
    """`jvp(f, (x, y), tangents)`: what is differentiated for stands in the second argument."""
    primals = argument(call, 1, "primals")
    if not isinstance(primals, ast.Tuple | ast.List) or position >= len(primals.elts):
        return None
    return primals.elts[position]


def _is_path(text: str) -> bool:
    """Whether an expression is a name with attributes and indices, which reads well before another index."""
    return all(
        part.isidentifier() for part in text.replace("[", ".").replace("]", "").replace("'", "").split(".")
    )


def _parameter(function: Any, position: int) -> str:
    try:
        names = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return f"argument {position + 1}"
    if position < len(names) and names[position].kind is not inspect.Parameter.VAR_POSITIONAL:
        return names[position].name
    return f"argument {position + 1}"
