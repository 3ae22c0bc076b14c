"""Every example says what its lesson claims: the verdicts, the cause, the line."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradproof.cli.tour import Example, read_examples

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples"
EXAMPLES = {example.name: example for example in read_examples(FOLDER)}
QUIET = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}

# For each example: the verdicts, and what is reported at which line, given by a piece of that line.
EXPECTED: dict[str, tuple[set[str], set[tuple[str, str]]]] = {
    "first": ({"inaccurate"}, {("cancellation", "travel_time = received - SENT")}),
    "unwatched": ({"missing"}, {("not-watched", "tape.gradient(score, image)")}),
    "too_early": ({"missing"}, {("outside-tape", "distances = np.sqrt")}),
    "left_framework": ({"missing"}, {("left-framework", "average.numpy() / 100.0")}),
    "reassigned": ({"correct", "missing"}, {("reassigned-variable", "w = w - rate * gradient")}),
    "list_in_tape": ({"correct"}, set()),
    "masked_log": ({"nonfinite"}, {("masked-branch", "tf.math.log(readings)")}),
    "log_sum_exp": ({"nonfinite"}, {("overflow", "np.exp(scores)")}),
    "long_sum": ({"inaccurate"}, {("accumulation", "total + calibration * rain")}),
    "half_precision": ({"inaccurate"}, {("underflow", "tf.cast(outputs, tf.float32)")}),
    "kink": ({"undefined"}, {("kink", "np.abs(prediction - labels)")}),
    "custom_sign": ({"wrong"}, {("custom-gradient", "return upstream / slack")}),
    "custom_term": ({"wrong"}, {("custom-gradient", "return upstream * 8.314 * amount")}),
    "second_order": ({"correct", "wrong"}, {("custom-gradient", "slope = tf.constant(")}),
    "epsilon": ({"correct", "unverified"}, {("step-size", "epsilon=1e-12)")}),
    "self_distance": ({"nonfinite"}, {("masked-branch", "distance = torch.sqrt")}),
    "stale": ({"correct", "wrong"}, {("stale-accumulation", "loss.backward()")}),
    "frozen": ({"correct"}, {("baked-constant", "logits / temperature)")}),
    "past_the_end": ({"wrong"}, {("framework-rule", "rows[labels]")}),
    "broadcast": ({"correct"}, {("silent-broadcast", "prediction - labels")}),
    "exploding": ({"correct"}, {("exploding", "recurrent @ state")}),
    "compiled": (
        {"nonfinite"},
        {("masked-branch", "tf.sqrt(variances)"), ("execution-mode", "tf.sqrt(variances)")},
    ),
    "keras_model": ({"correct"}, set()),
}


def test_the_list_the_folder_and_the_table_name_the_same_examples() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXAMPLES) == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_is_short_and_says_what_it_teaches(name: str) -> None:
    example = EXAMPLES[name]
    assert example.title.endswith((".", "?")) and len(example.title) < 110
    assert example.lesson.strip()
    assert len(example.source.splitlines()) <= 40
    ast.parse(example.source)


def test_the_list_says_which_examples_need_a_framework() -> None:
    listed = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    for needed in ("TensorFlow", "PyTorch", "JAX"):
        marked = {line.split("`")[1].removesuffix(".py") for line in listed if line.endswith(f"({needed})")}
        assert marked == {
            e.name for e in EXAMPLES.values() if e.needs is not None and e.needs.title == needed
        }


def test_examples_without_a_framework_find_what_they_teach() -> None:
    _compare([example for example in EXAMPLES.values() if example.needs is None])


@pytest.mark.parametrize("framework", ["tensorflow", "torch", "jax"])
def test_examples_with_a_framework_find_what_they_teach(framework: str) -> None:
    pytest.importorskip(framework)
    _compare([one for one in EXAMPLES.values() if one.needs is not None and one.needs.name == framework])


def _compare(examples: list[Example]) -> None:
    found = _audited([example.name for example in examples])
    expected = {
        example.name: {
            "verdicts": sorted(EXPECTED[example.name][0]),
            "places": sorted([kind, _line(example, piece)] for kind, piece in EXPECTED[example.name][1]),
        }
        for example in examples
    }
    assert found == expected


def _line(example: Example, piece: str) -> int:
    lines = enumerate(example.source.splitlines(), 1)
    (line,) = [number for number, text in lines if number >= example.first_line and piece in text]
    return line


def _audited(names: list[str]) -> dict[str, object]:
    """What the audits found, all in one process that has nothing to do with this one."""
    command = [sys.executable, "-m", "tests.test_examples", *names]
    done = subprocess.run(command, cwd=ROOT, env=QUIET, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def _audit_here(names: list[str]) -> None:
    from tests.causes.harness import audit

    found = {}
    for name in names:
        outcome = audit(FOLDER / f"{name}.py")
        assert not outcome.faults, outcome.faults
        found[name] = {"verdicts": sorted(set(outcome.verdicts)), "places": sorted(outcome.places)}
    print(json.dumps(found))


if __name__ == "__main__":
    _audit_here(sys.argv[1:])
