"""`log(x)[0]` as `log(x[0])`: what is not used is not computed."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.flow import forward_op
from gradproof.fixes.aim import EQUAL, aim_of, checked_digits
from gradproof.fixes.graph import Graph
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.patch import patch_of
from gradproof.fixes.pattern import MOVES
from gradproof.fixes.rewrite import rewrites
from gradproof.fixes.rule import RewriteRule
from gradproof.fixes.verify import is_equal

_TEXT = "slice first, so that the op never sees what is not used"


def offer(fault: Fault) -> Iterator[Fix]:
    case, program, aim, found = (
        fault.case,
        fault.case.capture.program,
        aim_of(fault.case),
        fault.case.irregular.nonfinite,
    )
    if program is None or aim is None or found is None or found.zero is None or found.zero.why != "not used":
        return
    graph, op = Graph(program), forward_op(found.program, found.origin).op
    rule = RewriteRule(f"moved({op}(A))", f"{op}(moved(A))", _TEXT)
    spans = dict.fromkeys(node.span for node in program.nodes if node.op in MOVES and node.span is not None)
    for span in spans:
        nodes = [node for node in program.nodes if node.span == span and not node.is_discrete]
        for rewrite in rewrites(program, graph, rule, nodes):
            checked = checked_digits(case, rewrite.program, aim, fault.replay, EQUAL)
            if checked is not None and is_equal(program, rewrite.program, aim.gradients.wrt):
                patch = patch_of(
                    program, rewrite.program, rewrite.nodes, case.sources, case.capture.framework
                )
                yield Fix(_TEXT, "" if patch is None else patch.text, checked, is_equal=True)
                return


FIX = FixKind("slice-first", ("masked-branch",), offer)
