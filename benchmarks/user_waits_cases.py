"""The cases of one framework for `user_waits.py`: prints a row of JSON for each.

python benchmarks/user_waits_cases.py tensorflow 1e4,1e6 attention
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from user_waits_timing import Row, cpu_of_children, measure

import gradproof
from gradproof.audit.budget import Policy, every
from gradproof.audit.session import Session

Case = tuple[str, Callable[[], Row]]

CHECK = {"ten ops": 15.0, "chain of 100 ops": 300.0}  # milliseconds
IN_NUMPY = {"ten ops": 15.0, "chain of 100 ops": 200.0}
NETWORKS = {"MLP": 15.0, "CNN": 25.0, "attention": 25.0, "LSTM": 25.0}  # gradients
SECOND_ORDER = 100.0  # gradients
UNFELT = ("torch", "jax")  # where a gradient of a small network takes a tenth of a millisecond
SMALL = ("MLP with 60 parameters", "MLP with 1e3 parameters")
UNCHECKED = 1.05
FIT = 1.1
STEPS = 20
SETTLING = 1.0  # seconds of computing: an audit of PyTorch goes on to listen for half a second, once


@contextmanager
def audit(policy: Policy) -> Iterator[Session]:
    session = Session(policy=policy)
    session.start()
    try:
        yield session
    finally:
        session.stop()


def never(occurrence: int) -> bool:
    del occurrence
    return False


def check_case(functions: Any, name: str, framework: str, order: int = 1) -> Row:
    function, args, gradient = functions.FUNCTIONS[name]()
    verdicts = {str(one.verdict) for one in gradproof.check(function, *args, order=order).gradients}
    assert verdicts == {"correct"}, (name, verdicts)
    waited = lambda: gradproof.check(function, *args, order=order)
    goals = IN_NUMPY if framework == "numpy" else CHECK
    goal, unit = (goals[name], "ms") if name in goals else (15.0, "gradients")
    if order == 2 and name not in goals:
        goal = SECOND_ORDER
    title = f"check, {name}" + (", order=2" if order == 2 else "")
    row = measure(title, gradient, waited, goal, unit)
    is_small = framework in UNFELT and unit == "gradients" and order == 1 and name in SMALL
    return dataclasses.replace(row, or_ms=CHECK["ten ops"] if is_small else None)


@contextmanager
def audited() -> Iterator[None]:
    """An audit of which something is judged; a step that it does not see must not count as an audited one."""
    with audit(every) as session:
        yield
    if not session.gradients:
        raise RuntimeError("the step was not audited while it was measured")


def audited_case(functions: Any, network: str, size: float) -> Row:
    gradient, n = functions.network(network, int(size))
    with audit(every) as session:
        gradient()
        verdicts = Counter(str(one.verdict) for one in session.gradients)
    assert verdicts, network
    assert set(verdicts) <= {"correct", "unverified"}, verdicts
    left = verdicts["unverified"]
    undecided = f", {left} of {verdicts.total()} unverified" if left else ""
    name = f"audited step, {network}, {n:,} parameters{undecided}"
    return measure(name, gradient, gradient, NETWORKS[network], around=audited)


def unchecked_case(functions: Any, network: str) -> Row:
    gradient, _ = functions.network(network, 100_000)

    @contextmanager
    def settled() -> Iterator[None]:
        with audit(never):
            began = time.process_time()
            while time.process_time() - began < SETTLING:
                gradient()  # what is compiled again for an audit is compiled here
            yield

    steps = lambda: [gradient() for _ in range(STEPS)]
    return measure(f"{STEPS} unchecked steps, {network}", steps, steps, UNCHECKED, "x", settled)


def fit_case(functions: Any) -> Row:
    """A whole training under `gradproof run`, against the same by Python alone."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(functions.TRAINING)
        plain = lambda: _run([sys.executable, str(script)])
        waited = lambda: _run([sys.executable, "-m", "gradproof", "run", "--quiet", str(script)])
        return measure(functions.TRAINING_NAME, plain, waited, FIT, "x", clock=cpu_of_children)


def start_cases() -> Iterator[Case]:
    python = [sys.executable, "-c", "pass"]
    for name, command, goal in (
        ("import gradproof", [sys.executable, "-c", "import gradproof"], 200.0),
        ("gradproof explain kink", [sys.executable, "-m", "gradproof", "explain", "kink"], 200.0),
        ("gradproof --help", [sys.executable, "-m", "gradproof", "--help"], 200.0),
    ):
        plain, waited = (lambda: _run(python)), (lambda command=command: _run(command))
        yield (
            name,
            lambda name=name, plain=plain, waited=waited, goal=goal: measure(
                name, plain, waited, goal, "ms", clock=cpu_of_children
            ),
        )


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cases(framework: str, sizes: list[float]) -> Iterator[Case]:
    if framework == "start":
        yield from start_cases()
        return
    functions = importlib.import_module(f"user_waits_{framework}")
    for name in functions.FUNCTIONS:
        yield f"check, {name}", lambda name=name: check_case(functions, name, framework)
    for name in ("MLP with 60 parameters", "chain of 100 ops"):
        yield f"check, {name}, order=2", lambda name=name: check_case(functions, name, framework, 2)
    if framework == "numpy":
        return
    for network in NETWORKS:
        yield f"unchecked, {network}", lambda network=network: unchecked_case(functions, network)
    yield "fit", lambda: fit_case(functions)
    for network in NETWORKS:
        for size in sizes:
            yield (
                f"audited, {network}, {size:g}",
                lambda network=network, size=size: audited_case(functions, network, size),
            )


def main() -> None:
    framework, sizes, only = sys.argv[1], sys.argv[2], sys.argv[3]
    for name, measured in cases(framework, [float(size) for size in sizes.split(",")]):
        if only in name:
            try:
                print(json.dumps(dataclasses.asdict(measured())), flush=True)
            except Exception as error:  # one case must not cost the others their place in the table
                print(json.dumps({"failed": f"{name}: {type(error).__name__}: {error}"}), flush=True)


if __name__ == "__main__":
    main()
