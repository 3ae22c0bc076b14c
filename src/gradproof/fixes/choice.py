"""The choice of the largest, made soft: probabilities in the place of an argmax, and of the hits counted by it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.fixes.align import is_method
from gradproof.fixes.edit import enclosed
from gradproof.fixes.lines import replaced_alone
from gradproof.fixes.rewrite import bound_array, finished, tracing, with_nodes
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import spell
from gradproof.fixes.users_file import file_at
from gradproof.ir.program import Node, Program

_MEAN = "use the mean index under softmax instead of the argmax"
_TABLE = "use the mean of the table under softmax instead of its entry at the argmax"
_HITS = "count the probability that softmax gives to the right class, instead of hits by argmax"
_MEANING = "every class counts with its probability, so the value is no longer a whole number of choices"


@dataclass(frozen=True, eq=False)
class _Choice:
    """A choice that is used as a number: `labels` are what it is compared with, `table` what it chooses from."""

    node: Node
    argmax: Node
    compared: Node | None = None
    labels: int | None = None
    table: int | None = None

    def axis(self, program: Program) -> int:
        ndim = len(program[self.argmax.inputs[0]].shape)
        return int(self.argmax.params.get("axis", 0)) % max(ndim, 1)


def soft_choices(case: Case, program: Program) -> Iterator[tuple[Program, tuple[int, ...], str, str, str]]:
    """The changed program with the nodes, the words, and the patch that are its change."""
    for choice in _choices(program):
        made = _made(program, choice)
        text = _HITS if choice.labels is not None else _MEAN if choice.table is None else _TABLE
        patch = _patch(case, program, choice)
        yield with_nodes(program, {choice.node.id: made}), (choice.node.id,), text, _MEANING, patch


def _choices(program: Program) -> Iterator[_Choice]:
    for node in program.nodes:
        if node.op == "take" and not node.is_discrete and len(program[node.inputs[0]].shape) == 1:
            index = _behind(program, node.inputs[1])
            if index.op == "argmax" and index.shape == node.shape:
                yield _Choice(node, index, table=node.inputs[0])
        if node.op != "cast" or node.is_discrete:
            continue
        inner = _behind(program, node.inputs[0])
        if inner.op == "argmax":
            yield _Choice(node, inner)
        elif inner.op == "equal":
            sides = [_behind(program, id) for id in inner.inputs]
            chosen = [k for k, side in enumerate(sides) if side.op == "argmax"]
            is_fixed = len(chosen) == 1 and sides[1 - chosen[0]].op in ("constant", "input")
            if is_fixed and inner.shape == sides[chosen[0]].shape:
                yield _Choice(node, sides[chosen[0]], inner, inner.inputs[1 - chosen[0]])


def _behind(program: Program, id: int) -> Node:
    node = program[id]
    while node.op in ("identity", "cast", "reshape") and program[node.inputs[0]].is_discrete:
        node = program[node.inputs[0]]
    return node


def _made(program: Program, choice: _Choice) -> list[Node]:
    tracer = tracing(program, choice.node)
    x: Any = bound_array(program, tracer, choice.argmax.inputs[0])
    axis, n = choice.axis(program), x.shape[choice.axis(program)]
    chances = tracer.softmax(x, axes=(axis,))
    if choice.labels is None:
        shape = [1] * x.ndim
        shape[axis] = n
        entries = np.arange(n) if choice.table is None else np.asarray(program[choice.table].value)
        weights = entries.reshape(shape)
    else:
        labels = np.broadcast_to(program[choice.labels].value, choice.argmax.shape)  # one for all, or each
        weights = np.moveaxis(np.arange(n) == labels[..., None], -1, axis)
    weighted = chances * tracer.constant(weights.astype(x.value.dtype))
    return finished(tracer, choice.node, tracer.sum(weighted, axes=(axis,)))


def _patch(case: Case, program: Program, choice: _Choice) -> str:
    """The framework's own words for it, if the scores and the labels can be written where the number is used."""
    span = choice.node.span
    file = file_at(case, span)
    if span is None or file is None or not file.language.one_hot:
        return ""
    source, language = file.source, file.language
    place, call = source.at(span), source.at(choice.argmax.span)
    scores = _first(source, call)
    if not isinstance(place, ast.Call | ast.Subscript) or scores is None:
        return ""
    other = [*_labels(source, choice), *_table(source, place, choice)]
    parts = [scores, *other]
    if len(other) != (choice.labels is not None or choice.table is not None) or not all(
        _reach(source, one, place) for one in parts
    ):
        return ""
    written = [ast.get_source_segment(source.text, part) or "" for part in parts]
    axis, ndim = choice.axis(program), len(program[choice.argmax.inputs[0]].shape)
    n = program[choice.argmax.inputs[0]].shape[axis]
    along = "" if axis == ndim - 1 else f", {language.axis}={axis}"
    if along and (choice.labels is None or "{axis}" not in language.one_hot):
        return ""
    named = language.places if choice.labels is None else language.one_hot
    named = named if choice.table is None else "{labels}"
    weights = file.worded(named.format(n=n, axis=along, labels=written[-1]))
    chances = spell(language.name, file.alias, "softmax", [ast.Name("SCORES")], {"axes": (axis,)}, ndim)
    if chances is None:
        return ""
    total = spell(language.name, file.alias, "sum", [ast.Name("PRODUCT")], {"axes": (axis,)}, ndim)
    product = f"{ast.unparse(chances).replace('SCORES', written[0])} * {weights}"
    text = "" if total is None else ast.unparse(total).replace("PRODUCT", product)
    return replaced_alone(source, [(place, enclosed(source, place, text))], span.file)


def _first(source: ParsedSource, call: ast.expr | None) -> ast.expr | None:
    """The array that a function or a method takes first."""
    if not isinstance(call, ast.Call):
        return None
    if is_method(source, call.func) and isinstance(call.func, ast.Attribute):
        return call.func.value
    return call.args[0] if call.args else None


def _table(source: ParsedSource, place: ast.expr, choice: _Choice) -> list[ast.expr]:
    first = place.value if isinstance(place, ast.Subscript) else _first(source, place)
    is_plain = isinstance(first, ast.Name | ast.Attribute)
    return [first] if choice.table is not None and first is not None and is_plain else []


def _labels(source: ParsedSource, choice: _Choice) -> list[ast.expr]:
    if choice.compared is None or choice.labels is None:
        return []
    expression = source.at(choice.compared.span)
    sides = [expression.left, *expression.comparators] if isinstance(expression, ast.Compare) else []
    sides = expression.args if isinstance(expression, ast.Call) else sides
    return [sides[choice.compared.inputs.index(choice.labels)]] if len(sides) == 2 else []


def _reach(source: ParsedSource, part: ast.expr, place: ast.expr) -> bool:
    if source.statement(part) is source.statement(place):
        return True
    names = [name for name in ast.walk(part) if isinstance(name, ast.Name)]
    return all(source.means_the_same(name, place) for name in names)
