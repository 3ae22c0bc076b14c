"""What a function reads from outside of itself: names, attributes and items, found in its bytecode."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import ref

from gradproof.frontends.record.source import is_users
from gradproof.ir.span import Span

MISSING = object()
"""The value of what is not there any more, or not yet."""
DEEPEST = 3  # calls into helpers of the user's that are followed
_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")
_CELL = ("LOAD_DEREF", "LOAD_CLASSDEREF")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_CONTAINERS = (dict, list, tuple)


@dataclass(frozen=True, eq=False)
class Read:
    """One thing that is read: how the source spells it, how to read it again, what it was, and where."""

    name: str
    root: Callable[[], Any]
    steps: tuple[tuple[bool, Any], ...]  # attributes (True) and items (False) on the way from the root
    value: Any
    span: Span

    def now(self) -> Any:
        value = self.root()
        for is_attribute, key in self.steps:
            value = _attribute(value, key) if is_attribute else _item(value, key)
        return value

    def further(self, is_attribute: bool, key: Any, span: Span) -> Read:
        name = f"{self.name}.{key}" if is_attribute else f"{self.name}[{key!r}]"
        value = _attribute(self.value, key) if is_attribute else _item(self.value, key)
        return replace(self, name=name, steps=(*self.steps, (is_attribute, key)), value=value, span=span)


@dataclass(frozen=True, eq=False)
class Given:
    """A function with the objects that it is called with as they are, by the names of its parameters."""

    function: FunctionType
    objects: Mapping[str, Any]


def reads_of(function: Any, later: Iterable[CodeType] = ()) -> Iterator[Read]:
    """Of a function of the user's, and of those that it calls by name; not of those that only run `later`."""
    seen: set[CodeType] = set(later)
    pending = [(function, 0)]
    while pending:
        function, depth = pending.pop()
        function, objects = _with_objects(function)
        if not isinstance(function, FunctionType) or function.__code__ in seen:
            continue
        seen.add(function.__code__)
        if not is_users(function.__code__.co_filename):
            continue
        yield from _of_function(function, objects)
        if depth < DEEPEST:
            names = [name for code in _codes(function.__code__) for name in code.co_names]
            pending += [(function.__globals__[n], depth + 1) for n in names if n in function.__globals__]


def _with_objects(function: Any) -> tuple[Any, Mapping[str, Any]]:
    """A function, and what of its arguments is known: the object of a method is the first."""
    if isinstance(function, Given):
        return function.function, function.objects
    owner = _target(getattr(function, "__self__", None))
    function = getattr(function, "__func__", function)
    is_method = owner is not None and isinstance(function, FunctionType) and function.__code__.co_argcount > 0
    return function, {function.__code__.co_varnames[0]: owner} if is_method else {}


def _of_function(function: FunctionType, objects: Mapping[str, Any]) -> Iterator[Read]:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    for code in _codes(function.__code__):
        found: Read | None = None
        key: Any = MISSING
        for instruction in dis.get_instructions(code):
            span, kind = _span(code, instruction), instruction.opname
            if kind == "LOAD_CONST" and found is not None:
                key = instruction.argval  # of an item, if that is what comes next
                continue
            if kind in _ATTRIBUTE and found is not None:
                found = found.further(True, instruction.argval, span)
            elif _takes_item(instruction) and found is not None and key is not MISSING:
                found = found.further(False, key, span)
            else:
                found = _first(function, objects, cells, code, instruction, span)
            key = MISSING
            if found is not None:
                yield found


def _first(
    function: FunctionType,
    objects: Mapping[str, Any],
    cells: Mapping[str, Any],
    code: CodeType,
    instruction: dis.Instruction,
    span: Span,
) -> Read | None:
    name, kind = str(instruction.argval), instruction.opname
    if kind in _GLOBAL and name in function.__globals__:
        names = function.__globals__
        return Read(name, lambda: names.get(name, MISSING), (), names[name], span)
    if kind in _CELL and name in cells:
        cell = cells[name]
        return Read(name, lambda: _content(cell), (), _content(cell), span)
    own = function.__code__
    is_argument = kind in _CELL if name in own.co_cellvars else kind.startswith("LOAD_FAST") and code is own
    if name not in objects or not is_argument:
        return None
    return Read(name, _kept(objects[name]), (), objects[name], span)


def _target(owner: Any) -> Any:
    """The object of a method. TensorFlow puts one of its own in between, so that a graph does not keep it alive."""
    return owner.target if type(owner).__name__ == "TfMethodTarget" else owner


def _kept(owner: Any) -> Callable[[], Any]:
    """Nor do we keep it."""
    try:
        return ref(owner)
    except TypeError:
        return lambda: owner


def _takes_item(instruction: dis.Instruction) -> bool:
    """Python 3.14 has made an operator of it."""
    return instruction.opname == "BINARY_SUBSCR" or instruction.argrepr == "[]"


def _attribute(thing: Any, name: str) -> Any:
    """Without running any code of the user's: no properties, no `__getattr__`."""
    if isinstance(thing, ModuleType):
        return vars(thing).get(name, MISSING)
    own = getattr(thing, "__dict__", {})
    if name in own:
        return own[name]
    for kind in type(thing).__mro__:
        if name in vars(kind):
            value = vars(kind)[name]
            return MISSING if hasattr(value, "__get__") else value
    return MISSING


def _item(thing: Any, key: Any) -> Any:
    if type(thing) not in _CONTAINERS:
        return MISSING
    try:
        return thing[key]
    except (LookupError, TypeError):
        return MISSING


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING  # not assigned yet


def _codes(code: CodeType) -> Sequence[CodeType]:
    inner = [one for constant in code.co_consts if isinstance(constant, CodeType) for one in _codes(constant)]
    return [code, *inner]


def _span(code: CodeType, instruction: dis.Instruction) -> Span:
    p = instruction.positions
    line = (p.lineno if p is not None else None) or code.co_firstlineno
    if p is None:
        return Span(code.co_filename, line)
    return Span(code.co_filename, line, p.col_offset, p.end_lineno, p.end_col_offset, code.co_qualname)
