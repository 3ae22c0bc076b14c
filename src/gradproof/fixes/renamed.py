"""What a rule returns with one name in the place of another: the argument where the result was meant, say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from gradproof.fixes.formula import Formula
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.tried import recomputed
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.options import TOLERANCES

_NEARBY = (0.8, 1.3)  # times the numbers that were recorded: far enough that no two names agree by chance


def renamed(source: ParsedSource, old: ast.expr, formula: Formula) -> Iterator[str]:
    """The texts that give what the formula does at a point nearby, by its own names."""
    definition = source.definition(old) if isinstance(old, ast.Name) else None
    text = ast.get_source_segment(source.text, old if definition is None else definition.value) or ""
    moved = recomputed(_moved(formula.program))
    if moved is None:
        return
    nearby = moved[moved.outputs[0]]
    elsewhere = Formula(moved, formula.names, formula.framework, formula.alias)
    for name, other in permutations(sorted(set(formula.names.values())), 2):
        changed = re.sub(rf"(?<![\w.]){re.escape(name)}\b", other, text)
        found = None if changed == text else elsewhere.run(changed)
        if found is not None and _is_same(found, nearby):
            yield changed


def _moved(program: Program) -> Program:
    return replace(program, nodes=tuple(map(_elsewhere, program.nodes)))


def _elsewhere(node: Node) -> Node:
    value = np.asarray(node.value)
    if node.op != "input" or not np.issubdtype(value.dtype, np.floating):
        return node
    factors = np.linspace(*_NEARBY, value.size + node.id % 5 + 2)[1 : value.size + 1].reshape(value.shape)
    return replace(node, value=(np.where(value == 0, 0.1, value) * factors).astype(value.dtype))


def _is_same(found: Array, node: Node) -> bool:
    expected = np.asarray(node.value)
    tolerance = TOLERANCES.get(node.dtype, 0.0)
    return found.shape == expected.shape and bool(np.allclose(found, expected, rtol=tolerance, atol=0.0))
