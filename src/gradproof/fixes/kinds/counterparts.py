"""Functions of NumPy, `math` and SciPy replaced by the framework's own, and conversions to plain numbers left out.

All of a block at once: the next obstacle on the same path is of the same kind more often than not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import accumulate

from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.words import framework_name
from gradproof.fixes.edit import diff, enclosed
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.users_file import file_at
from gradproof.frameworks import Framework, framework
from gradproof.ir.syntax import statement_around

_OPS = {text.removeprefix("np."): op for op, text in framework("numpy").spellings.items() if "(" not in text}
# Names that other libraries have for the same functions.
_OTHERS = {
    "asin": "asin", "acos": "acos", "atan": "atan", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erf": "erf",
    "erfc": "erfc", "lgamma": "lgamma", "gammaln": "lgamma", "expit": "sigmoid", "logsumexp": "logsumexp",
    "softmax": "softmax", "log_softmax": "log_softmax", "amax": "max", "average": "mean",
}  # fmt: skip
_PLAIN = ("numpy", "item", "detach", "tolist", "cpu")  # make plain numbers of an array, or lead there
_OF_MATRICES = frozenset({"norm", "det", "inv", "solve", "cholesky"})  # by the same names in every framework
_MAKERS = frozenset(
    {"constant", "convert_to_tensor", "tensor", "as_tensor", "from_numpy", "asarray", "array"}
)
_LIBRARIES = ("numpy", "math", "scipy.special", "cmath")

_PASSED = frozenset({"numpy_function", "py_function"})  # that are handed a function, and leave to call it

Range = tuple[int, int, str]


def offer(fault: Fault) -> Iterator[Fix]:
    case, missing = fault.case, fault.case.source.missing
    span = fault.found.span or (None if missing is None else missing.span)
    file = file_at(case, span)
    statement = None if file is None or span is None else _left_at(fault, file.source, span.line)
    if file is None or span is None or statement is None:
        return
    source, language = file.source, file.language
    block = getattr(source.parents.get(statement), "body", [statement])
    called = {one.id for each in block for one in ast.walk(each) if isinstance(one, ast.Name)}
    functions = [one for one in source.tree.body if isinstance(one, ast.FunctionDef) and one.name in called]
    also = [*functions, *_made_anew(source, case.capture.target, statement)]
    parts = [*block, *(one for one in also if one not in block)]
    converter = _Converter(source, language, file.alias, case.source.dtype)
    changes = [one for each in parts for one in converter.changes(each)]
    if changes:
        changes += _needless_leaves(source, language, case.capture.target)
        text = f"stay in {framework_name(language.name)}: use its own functions on the tensor itself"
        yield Fix(text, diff(source, _applied(source, changes), span.file))


def _left_at(fault: Fault, source: ParsedSource, line: int) -> ast.stmt | None:
    """The statement at a line; where a plain number is asked for, the one before it that computes that number."""
    if fault.found.kind != "not-connected":
        return statement_around(source.tree, line)
    given = [
        one
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Assign)
        and one.lineno < line
        and any(ast.unparse(target) == fault.case.capture.target for target in one.targets)
    ]
    return max(given, key=lambda one: one.lineno, default=None)


def _made_anew(source: ParsedSource, target: str, after: ast.stmt) -> Iterator[ast.stmt]:
    """`loss = torch.tensor(total, requires_grad=True)` behind the loop in which the numbers have left."""
    for one in ast.walk(source.tree):
        if (
            isinstance(one, ast.Assign)
            and one.lineno > after.lineno
            and ast.unparse(one.targets[0]) == target
        ):
            yield one


def _needless_leaves(source: ParsedSource, language: Framework, target: str) -> list[Range]:
    """`loss.requires_grad = True` is how a loss without a graph was made to run; one with a graph refuses it."""
    starts = _starts(source)
    return [
        (starts[one.lineno - 1], starts[one.end_lineno or one.lineno], "")
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Assign)
        and language.leaf_keyword
        and ast.unparse(one.targets[0]) == f"{target}.{language.leaf_keyword}"
        and not source.indent(one).strip()
    ]


def _starts(source: ParsedSource) -> list[int]:
    """Where the lines of a file begin, counted in bytes as the columns of its tree are."""
    return [0, *accumulate(len(line.encode()) for line in source.text.splitlines(keepends=True))]


class _Converter:
    """Finds what is to be replaced in a statement, as ranges of the file."""

    def __init__(self, source: ParsedSource, language: Framework, alias: str, dtype: str) -> None:
        self.source, self.language, self.alias, self.dtype = source, language, alias, dtype
        self.modules = {
            one.asname or one.name: one.name
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Import)
            for one in node.names
            if one.name in _LIBRARIES
        }
        self.taken = {
            one.asname or one.name: (node.module or "", one.name)
            for node in ast.walk(source.tree)
            if isinstance(node, ast.ImportFrom) and node.module in _LIBRARIES
            for one in node.names
        }
        self.data = source.text.encode()
        self.starts = _starts(source)

    def changes(self, statement: ast.stmt) -> Iterator[Range]:
        yield from self._calls(statement)
        yield from self._arrays(statement)

    def _calls(self, statement: ast.AST) -> Iterator[Range]:
        for call in (one for one in ast.walk(statement) if isinstance(one, ast.Call)):
            first, last = self._range(call)
            function = call.func
            name = function.attr if isinstance(function, ast.Attribute) else ""
            base = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
            if isinstance(function, ast.Name):
                base, name = self.taken.get(function.id, ("", ""))
            if word := self._counterpart(base, name):
                if self._is_of_numbers(call):
                    continue
                yield (*self._range(function), word)
            elif base == self.alias and name in _PASSED and (parts := _passed(call)):
                yield from self._called(call, *parts)
            elif (
                isinstance(function, ast.Attribute)
                and base not in self.modules
                and self._is_plain(call, name)
            ):
                yield from self._without_call(call, function)
            elif self._is_wrapper(call, name, base):
                inner = self._range(call.args[0])
                text = ast.get_source_segment(self.source.text, call.args[0]) or ""
                around = ("(", ")") if enclosed(self.source, call, text) != text else ("", "")
                yield first, inner[0], around[0]
                yield inner[1], last, around[1]
            elif self._is_of_freed(call, name, base):
                yield (
                    *self._range(function),
                    self.language.stack.replace(self.language.alias, self.alias, 1),
                )

    def _is_plain(self, call: ast.Call, name: str) -> bool:
        """Whether a method makes plain numbers of an array, or is one that arrays of the framework do not have."""
        if name == "astype" and "astype" not in self.language.cast:
            return len(call.args) == 1 and "float" in ast.unparse(call.args[0])
        return name in _PLAIN and not call.args

    def _without_call(self, call: ast.Call, function: ast.Attribute) -> Iterator[Range]:
        """`(x - y).item()` without the call: the brackets stay where something else stands beside them."""
        inner, last = self._range(function.value), self._range(call)[1]
        dot = inner[1] + self.data[inner[1] : last].index(b".")
        is_whole = isinstance(self.source.parents.get(call), ast.stmt)
        if is_whole and dot > inner[1]:
            yield self._range(call)[0], inner[0], ""
            yield inner[1], last, ""
        else:
            yield dot, last, ""

    def _arrays(self, statement: ast.stmt) -> Iterator[Range]:
        """Arrays of NumPy beside tensors, where the framework's arithmetic refuses them."""
        template = self.language.as_array.replace(f"{self.language.alias}.", f"{self.alias}.")
        for one in ast.walk(statement):
            for side in (one.left, one.right) if template and isinstance(one, ast.BinOp) else ():
                if isinstance(side, ast.Name) and self._is_array(side):
                    yield (*self._range(side), template.format(x=side.id, dtype=self.dtype))

    def _is_array(self, use: ast.Name) -> bool:
        """Whether a name is given what functions of NumPy return for data, and which stay as they are."""
        given = [self.source.parents.get(one) for one in self.source.stores(use)]
        calls = [
            one.value for one in given if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
        ]
        bases = (one.func.value if isinstance(one.func, ast.Attribute) else None for one in calls)
        return 0 < len(given) == len(calls) and all(
            isinstance(base, ast.Name)
            and self.modules.get(base.id) == "numpy"
            and not any(True for _ in self._calls(call))
            for base, call in zip(bases, calls)
        )

    def _is_of_numbers(self, call: ast.Call) -> bool:
        """`math.log(2 * math.pi)` stays what it is: functions of frameworks take no plain numbers, or need not."""
        names = (one for part in call.args for one in ast.walk(part) if isinstance(one, ast.Name))
        return bool(call.args) and all(one.id in self.modules or self.source.is_number(one) for one in names)

    def _called(self, call: ast.Call, function: ast.expr, arguments: list[ast.expr]) -> Iterator[Range]:
        """A function that was handed over to be called elsewhere, called right here."""
        first, last = self._range(function)
        around = ("(", ")") if isinstance(function, ast.Lambda) else ("", "")
        words = [ast.get_source_segment(self.source.text, one) or "" for one in arguments]
        yield self._range(call)[0], first, around[0]
        yield last, self._range(call)[1], f"{around[1]}({', '.join(words)})"

    def _is_wrapper(self, call: ast.Call, name: str, base: str) -> bool:
        """`float(x)`, or the framework's function that makes an array of what would be one without it."""
        if not call.args or isinstance(call.args[0], ast.Constant) or self.source.is_list(call.args[0]):
            return False
        is_float = isinstance(call.func, ast.Name) and call.func.id == "float" and len(call.args) == 1
        return is_float or (base in (self.alias, *self.modules) and name in _MAKERS)

    def _is_of_freed(self, call: ast.Call, name: str, base: str) -> bool:
        """`np.array(parts)` of a list of plain numbers that are arrays once their conversions are left out."""
        if not self.language.stack or name not in _MAKERS or base not in (self.alias, *self.modules):
            return False
        lists = call.args if len(call.args) == 1 and not call.keywords else []
        made = [given for one in lists for given in self._given(one) if self.source.is_list(one)]
        return any(True for one in made for _ in self._calls(one))

    def _given(self, part: ast.expr) -> list[ast.expr]:
        """A list itself, or what its name is given."""
        if not isinstance(part, ast.Name):
            return [part]
        given = [self.source.parents.get(one) for one in self.source.stores(part)]
        return [one.value for one in given if isinstance(one, ast.Assign)]

    def _counterpart(self, base: str, name: str) -> str:
        module, _, part = base.partition(".")
        if part == "linalg" and self.modules.get(module) == "numpy" and name in _OF_MATRICES:
            return f"{self.alias}.linalg.{name}"
        if base not in (*self.modules, *_LIBRARIES):
            return ""
        op = _OPS.get(name) or _OTHERS.get(name, name)
        text = self.language.spellings.get(op, "")
        if not text or "(" in text:
            return ""
        return text.replace(f"{self.language.alias}.", f"{self.alias}.", 1)

    def _range(self, node: ast.expr) -> tuple[int, int]:
        first = self.starts[node.lineno - 1] + node.col_offset
        return first, self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)


def _passed(call: ast.Call) -> tuple[ast.expr, list[ast.expr]] | None:
    """The function and the arguments that a call is handed: by their places, or by their names."""
    named = {one.arg: one.value for one in call.keywords}
    function = call.args[0] if call.args else named.get("func")
    given = call.args[1] if len(call.args) > 1 else named.get("inp")
    if function is None or not isinstance(given, ast.List | ast.Tuple):
        return None
    return function, given.elts


def _applied(source: ParsedSource, changes: list[Range]) -> list[str]:
    data = source.text.encode()
    for first, last, text in sorted(changes, reverse=True):
        data = data[:first] + text.encode() + data[last:]
    return data.decode().splitlines(keepends=True)


FIX = FixKind("counterparts", ("left-framework", "not-connected"), offer)
