"""The search for formulas against equality saturation (egglog), with the same rules on the same unstable formulas.

pip install egglog && python benchmarks/egglog_search.py [EVERY]    # every formula, or only one in so many

Both have to bring back half of the lost digits and to be proven equal. The cost of a term is a sum over its ops in
egglog and knows nothing of digits, so it is asked for the best terms under many weights, and each of them is run.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.fixes.digits import true_gradient
from tests.fixes.expressions import program_of
from tests.fixes.formulas import FORMULAS, HELD_OUT, Formula

from gradproof.fixes.pattern import Number, Pattern, PatternCall, parse
from gradproof.fixes.rules import RULES
from gradproof.fixes.search import Aim, search
from gradproof.fixes.verify import GradientPair, is_equal, rounded_gradient
from gradproof.ir import types
from gradproof.options import Options

N_WEIGHTS = 6  # ways of weighing the ops; the first one counts them
N_VARIANTS = 8  # terms that are taken for each
ROUNDS = 4  # of all rules; one more fills the memory for the longest formulas
MOST_RUN = 120  # candidates of one formula
# What our own search sees without a rule: other spellings of the same op.
SPELLINGS = (
    ("A + B", "B + A"), ("A * B", "B * A"), ("A * A", "square(A)"), ("square(A)", "A * A"), ("A - B", "A + -B"),
    ("A + -B", "A - B"), ("1 / A", "reciprocal(A)"), ("reciprocal(A)", "1 / A"), ("A * reciprocal(B)", "A / B"),
    ("1 / (1 + exp(-A))", "sigmoid(A)"), ("1 / (1 + exp(A))", "sigmoid(-A)"),
)  # fmt: skip


def main() -> None:
    counts = {"own": [0, 0.0], "egglog": [0, 0.0]}
    total = 0
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for formula in (*FORMULAS, *HELD_OUT)[::every]:
        program = program_of(formula.text, formula.values, formula.dtype, formula.constants)
        wrt = program.inputs[0]
        pair = GradientPair(wrt, true_gradient(program, wrt, formula.dtype), formula.dtype, Options())
        observed, possible = rounded_gradient(program, wrt), types.digits_possible(formula.dtype)
        aim = Aim(pair, 0.0 if observed is None else pair.digits(observed), possible)
        if possible - aim.digits < 1.5:
            continue
        total += 1
        found = []
        for name, way in (("own", _own), ("egglog", _by_egglog)):
            start = time.thread_time()
            digits = way(formula, program, aim)
            counts[name][1] += time.thread_time() - start
            counts[name][0] += digits is not None
            found.append("   -" if digits is None else f"{digits:4.1f}")
        print(f"{aim.digits:4.1f} -> {found[0]} own, {found[1]} egglog  {formula.text}", flush=True)
    for name, (mended, seconds) in counts.items():
        print(f"{name}: {mended} of {total} mended, {seconds:.0f} s of computing")


def _own(formula: Formula, program: Any, aim: Aim) -> float | None:
    found = search(program, aim)
    return None if found is None else found.digits


def _by_egglog(formula: Formula, program: Any, aim: Aim) -> float | None:
    best = []
    for text in list(dict.fromkeys(_variants(formula)))[:MOST_RUN]:
        try:
            made = program_of(text, formula.values, formula.dtype, formula.constants)
        except Exception:  # what does not fit its shapes is no candidate
            continue
        gradient = rounded_gradient(made, aim.gradients.wrt)
        digits = 0.0 if gradient is None else aim.gradients.digits(gradient)
        if aim.is_reached(digits):
            best.append((digits, made))
    good = (one for one in sorted(best, key=lambda one: -one[0])[:8])
    return next((digits for digits, made in good if is_equal(program, made, aim.gradients.wrt)), None)


def _variants(formula: Formula) -> Iterator[str]:
    from egglog.bindings import EGraph

    both = [*((one.pattern, one.replacement) for one in RULES), *SPELLINGS]
    rules = [(parse(before), parse(after)) for before, after in both]
    start = parse(formula.text)
    ops = sorted({op for pair in (*rules, (start, start)) for side in pair for op in _ops(side)})
    generator = random.Random(0)
    for k in range(N_WEIGHTS):
        weights = {op: 1 if k == 0 else generator.choice((1, 3, 30)) for op in ops}
        lines = ["(datatype M (Num f64 :cost 1) (Var String :cost 1)"]
        lines += [f"  (|{name}| {' '.join(['M'] * n)} :cost {weights[name, n]})" for name, n in ops]
        lines += [")", *(f"(rewrite {_sexp(a, True)} {_sexp(b, True)})" for a, b in rules if _is_plain(a, b))]
        lines += [f"(let $e {_sexp(start, False)})", f"(run {ROUNDS})", f"(extract $e {N_VARIANTS})"]
        graph = EGraph()
        *_, variants = graph.run_program(*graph.parse_program("\n".join(lines)))
        yield from (_text(one.strip()) for one in str(variants).splitlines() if one.strip() not in "()")


def _is_plain(pattern: Pattern, replacement: Pattern) -> bool:
    """Only what the left side names can stand on the right; a name alone matches everything."""
    return isinstance(pattern, PatternCall) and _names(replacement) <= _names(pattern)


def _names(pattern: Pattern) -> set[str]:
    if isinstance(pattern, PatternCall):
        return set().union(*map(_names, pattern.args))
    return set() if isinstance(pattern, Number) else {pattern.name}


def _op(pattern: PatternCall) -> tuple[str, int]:
    exponent = "" if pattern.exponent is None else f"^{pattern.exponent}"
    return f"{pattern.op}{exponent}", len(pattern.args)


def _ops(pattern: Pattern) -> Iterator[tuple[str, int]]:
    if isinstance(pattern, PatternCall):
        yield _op(pattern)
        for one in pattern.args:
            yield from _ops(one)


def _sexp(pattern: Pattern, is_rule: bool) -> str:
    if isinstance(pattern, Number):
        return f"(Num {float(pattern.value)!r})"
    if not isinstance(pattern, PatternCall):
        return pattern.name.lower() if is_rule else f'(Var "{pattern.name}")'
    return f"(|{_op(pattern)[0]}| {' '.join(_sexp(one, is_rule) for one in pattern.args)})"


def _text(term: str) -> str:
    """A term as an expression that `program_of` reads."""
    tokens = re.findall(r'[()]|"[^"]*"|[^\s()]+', term)

    def read() -> str:
        token = tokens.pop(0)
        if token != "(":
            return token.strip('"')
        name, parts = tokens.pop(0).strip("|"), list[str]()
        while tokens[0] != ")":
            parts.append(read())
        tokens.pop(0)
        base, _, exponent = name.partition("^")
        if base in ("Num", "Var"):
            return parts[0]
        return f"({parts[0]})**{exponent}" if exponent else f"{base}({', '.join(parts)})"

    return read()


if __name__ == "__main__":
    main()
