"""Writes the nodes of a program as one expression in names that are given, shortened where a factor is 1."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping

import numpy as np

from gradproof.fixes.render_term import Unwritten, number_expression
from gradproof.fixes.spelling import COMPARISONS, operation, spell
from gradproof.fixes.tidy import with_factor_ahead, with_plain_choices
from gradproof.frameworks import framework
from gradproof.ir.program import Node, Program
from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array
from gradproof.ops import TABLE

_THROUGH = frozenset({"identity", "cast"})
_ENTRYWISE = frozenset({"select", *COMPARISONS})
_PRODUCTS = frozenset({"mul", "absorbing_mul"})
MOST_PARTS = (
    200  # of an expression: nobody reads more, and what is used twice is written twice, again and again
)


class Formula:
    """`names` are the words for nodes that need not be computed again."""

    def __init__(self, program: Program, names: Mapping[int, str], framework: str, alias: str | None) -> None:
        self.program, self.names = program, names
        self.framework, self.alias = framework, alias

    def text(self, id: int) -> str:
        if self._n_parts(id) > MOST_PARTS:
            raise Unwritten
        if self._shape(id) != self.program[id].shape:
            raise Unwritten  # it would have to be broadcast, and no word of it says so
        tree = with_factor_ahead(with_plain_choices(self._expression(id)))
        return ast.unparse(ast.fix_missing_locations(tree))

    def run(self, text: str) -> Array | None:
        """What the framework makes of the text, with the names standing for the values that were recorded.

        Nothing of the user's runs: the text consists of the framework's functions, numbers, and these names.
        """
        language = framework(self.framework)
        module = sys.modules.get(language.module)
        if module is None or (self.alias is None and language.returns_none):
            return None
        made = getattr(module, language.constant)
        values = {name: made(self.program[id].value) for id, name in self.names.items()}
        try:
            with np.errstate(all="ignore"):
                # What a framework imports at its first use it imports with the builtins of whoever calls it.
                builtins = {"__import__": __import__}
                found = eval(text, {"__builtins__": builtins, self.alias or language.alias: module, **values})
        except Exception:  # what the framework refuses was not run
            return None
        return np.asarray(found)

    def _n_parts(self, id: int) -> int:
        """How many nodes are written for one, each as often as it is used."""
        counts: dict[int, int] = {}
        for node in self.program.nodes:
            counts[node.id] = 1 + (0 if node.id in self.names else sum(counts[one] for one in node.inputs))
        return counts[id]

    def _expression(self, id: int) -> ast.expr:
        node = self.program[id]
        if id in self.names:
            return ast.Name(self.names[id])
        if node.op == "constant" or self._number(id) is not None:
            return number_expression(node)
        if node.op in _THROUGH or node.op == "broadcast":
            return self._expression(node.inputs[0])
        if node.op in _PRODUCTS:
            return self._product(node)
        if node.op == "matmul" and not node.params:
            return ast.BinOp(
                self._expression(node.inputs[0]), ast.MatMult(), self._expression(node.inputs[1])
            )
        if node.op == "transpose" and tuple(node.params["order"]) == (1, 0) and self.alias is not None:
            function = ast.Attribute(ast.Name(self.alias), "transpose")
            return ast.Call(function, [self._expression(node.inputs[0])], [])
        return self._spelt(node)

    def _product(self, node: Node) -> ast.expr:
        factors = [id for id in node.inputs if self._number(id) != 1.0]
        if not factors:
            return ast.Constant(1.0)
        parts = [self._expression(id) for id in factors]
        return parts[0] if len(parts) == 1 else operation(parts[0], ast.Mult, parts[1])

    def _spelt(self, node: Node) -> ast.expr:
        if node.op not in TABLE or not node.inputs or node.is_opaque:
            raise Unwritten
        params = dict(node.params)
        op = node.op
        if op == "integer_power" and params["exponent"] == 1:
            return self._expression(node.inputs[0])
        if op == "sum_to":
            op, params = "sum", {"axes": self._summed(node)}
        args = [self._expression(id) for id in node.inputs]
        made = spell(self.framework, self.alias, op, args, params, len(self.program[node.inputs[0]].shape))
        if made is None:
            raise Unwritten
        return made

    def _summed(self, node: Node) -> tuple[int, ...]:
        """The leading axes that broadcasting has added; other ways of it are left to the reader."""
        before = self.program[node.inputs[0]].shape
        lead = len(before) - len(node.shape)
        if before[lead:] != node.shape:
            raise Unwritten
        return tuple(range(lead))

    def _number(self, id: int) -> float | None:
        """The value of a node that is the same number everywhere whatever is put in."""
        node = self.program[id]
        if id in self.names or node.is_discrete:
            return None
        if node.op == "constant":
            value = np.asarray(node.value)
            same = value.size > 0 and bool((value == value.flat[0]).all())
            return float(value.flat[0]) if same else None
        if node.op in (*_THROUGH, "broadcast", "reshape"):
            return self._number(node.inputs[0])
        return None

    def _shape(self, id: int) -> tuple[int, ...]:
        """The shape that the expression for a node has: broadcasts and factors of 1 are not written."""
        node = self.program[id]
        if id in self.names:
            return node.shape
        if self._number(id) is not None:
            return ()
        if node.op in (*_THROUGH, "broadcast"):
            return self._shape(node.inputs[0])
        if node.op in _ENTRYWISE or (node.op in TABLE and TABLE[node.op].slopes is not None):
            return joint_shape(*(self._shape(x) for x in node.inputs if self._number(x) != 1.0))
        written = [self._shape(x) for x in node.inputs]
        if written != [self.program[x].shape for x in node.inputs]:
            raise Unwritten
        return node.shape
