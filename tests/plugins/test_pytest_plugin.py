"""The plugin as users meet it: pytest in a process of its own, on a suite with good and bad gradients."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest_plugins = ["pytester"]

MODEL = """\
import numpy as np
import gradproof as gp


def loss(x):
    y = x * np.float32(1e10) + np.float32(1.0)
    return (y - np.float32(1e10)) ** 2


def gradient(f, at):
    x = gp.Variable(at, name="x")
    with gp.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x)


def bad():
    return gradient(loss, np.float32(1.0))


def good(x=3.0):
    return gradient(lambda x: x * x, x)
"""
# Not `importorskip`: pytester forgets what is imported in a test, and NumPy cannot be loaded twice.
without_tensorflow = pytest.mark.skipif(find_spec("tensorflow") is None, reason="TensorFlow is not installed")
HEADLINE = "model.py:7:13: error[cancellation]: a subtraction leaves 0 of 7 correct digits"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    for name in (
        "CI",
        "BUILD_NUMBER",
        "GITHUB_ACTIONS",
        "PYTEST_ADDOPTS",
    ):  # pytest prints more where they are set
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    pytester.makepyfile(model=MODEL)
    return pytester


def run(suite: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    suite.makepyfile(
        test_it=f"import numpy as np, pytest, unittest, gradproof as gp\nfrom model import *\n\n{tests}"
    )
    # Another plugin takes longer to start than all the rest, and none of the tests needs it.
    without = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    return suite.runpytest_subprocess(*without, "--strict-markers", *options)


def text_of(result: pytest.RunResult) -> str:
    return result.stdout.str()


def test_who_does_not_use_it_loads_nothing_of_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_heavy_is_loaded(request):
            assert request.config.pluginmanager.hasplugin("gradproof")
            heavy = {"numpy", "scipy", "flint", "rich", "tensorflow", "keras", "jax", "torch"}
            assert not heavy & set(sys.modules)
            ours = {name for name in sys.modules if name.partition(".")[0] == "gradproof"}
            assert ours == {"gradproof", "gradproof.plugins", "gradproof.plugins.pytest_plugin"}
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert "gradproof" not in text_of(result).split("plugins:")[1].split("\n", 1)[1]


@pytest.mark.parametrize("style", ["auto", "short"])
def test_a_failure_of_assert_correct_is_the_diagnosis_at_the_users_own_line(
    suite: pytest.Pytester, style: str
) -> None:
    result = run(
        suite,
        "def test_loss():\n    gp.assert_correct(loss, np.float32(1.0))\n",
        f"--tb={style}",
        "--junitxml=junit.xml",
    )
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert re.search(r"^(>  )? +gp.assert_correct\(loss, np.float32\(1.0\)\)$", text, re.M)
    assert re.search(r"^E +gradproof.IncorrectGradient: the gradient of `loss` is not right: ", text, re.M)
    assert re.search(r"^E +fix: subtract before you scale", text, re.M)
    assert "checking.py" not in text
    assert f"FAILED test_it.py::test_loss - {HEADLINE}" in text
    [failure] = ElementTree.parse(suite.path / "junit.xml").iter("failure")
    assert failure.attrib["message"].startswith(HEADLINE)
    assert "\n" not in failure.attrib["message"]
    assert "fix: subtract before you scale" in (failure.text or "")


def test_one_line_of_traceback_names_cause_and_place_and_so_does_the_summary_of_a_build_server(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "1")
    result = run(suite, "def test_loss():\n    gp.assert_correct(loss, np.float32(1.0))\n", "--tb=line")
    lines = result.outlines
    assert any(re.search(r"test_it.py:5: " + re.escape(HEADLINE), line) for line in lines)
    summary = lines[lines.index(next(line for line in lines if "short test summary" in line)) + 1 :]
    assert len(summary) == 2
    assert summary[0].startswith(f"FAILED test_it.py::test_loss - {HEADLINE}")


def test_the_test_that_computes_a_bad_gradient_fails_and_others_do_not(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
def test_bad():
    assert bad() == 0

@pytest.mark.parametrize("x", [1.0, 2.0, 3.0, 4.0])
def test_good(x):
    assert good(x) == 2 * x

def test_fails_by_itself():
    assert bad() == 1

@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    assert bad() == 0

def test_own_check():
    with pytest.raises(AssertionError):
        gp.assert_correct(loss, np.float32(1.0))

class TestCase(unittest.TestCase):
    def test_in_a_class(self):
        self.assertEqual(bad(), 0)

    def test_in_a_class_by_itself(self):
        self.assertEqual(bad(), 1)
""",
        "--gradproof",
        "--junitxml=junit.xml",
    )
    result.assert_outcomes(failed=4, passed=5, xfailed=1)
    text = text_of(result)
    assert f"FAILED test_it.py::test_bad - {HEADLINE}" in text
    assert f"FAILED test_it.py::TestCase::test_in_a_class - {HEADLINE}" in text
    assert "FAILED test_it.py::test_fails_by_itself - assert Gradient(0., dtype=float32) == 1" in text
    assert "the test computes d y / d x at model.py:14:12" in text
    assert len(re.findall(r"^-+ gradproof -+$", text, re.M)) == 2  # below failures of the tests' own
    assert "9 gradients in 9 tests: 4 correct and 5 inaccurate; checks took" in text
    assert re.search(r"^d y / d x  inaccurate  cancellation  model.py:7  test_it.py::test_bad$", text, re.M)
    failures = [each.text or "" for each in ElementTree.parse(suite.path / "junit.xml").iter("failure")]
    assert sum("fix: subtract before you scale" in each for each in failures) == 2


def test_fixtures_belong_to_the_test_that_first_needs_them_and_teardown_is_seen(
    suite: pytest.Pytester,
) -> None:
    result = run(
        suite,
        """
@pytest.fixture(scope="module")
def slope():
    return bad()

def test_first(slope):
    assert slope == 0

def test_second(slope):
    assert slope == 0

@pytest.fixture
def late():
    yield
    bad()

def test_late(late):
    pass
""",
        "--gradproof",
    )
    result.assert_outcomes(failed=1, passed=2, errors=1)
    text = text_of(result)
    assert "test_it.py::test_first (setup)" in text
    assert "ERROR test_it.py::test_late - model.py:7:13" in text
    assert "test_it.py::test_late (teardown)" in text


def test_what_no_test_can_fail_for_fails_the_session(suite: pytest.Pytester) -> None:
    tests = """
SLOPE = bad()

def test_nothing():
    pass
"""
    result = run(suite, tests, "--gradproof")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert re.search(r"model.py:7 +\(collection\)$", text_of(result), re.M)


def test_the_marker_accepts_tightens_and_turns_off(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
@pytest.mark.gradproof(accept=["cancellation"], reason="kept as it was published")
def test_accepted():
    assert bad() == 0

@pytest.mark.gradproof(accept=True)
def test_all_accepted():
    assert bad() == 0

@pytest.mark.gradproof(accept="inaccurate")
def test_accepted_by_verdict():
    assert bad() == 0

@pytest.mark.gradproof(accept=["kink"])
def test_another_cause_is_accepted():
    assert bad() == 0

@pytest.mark.gradproof(accept=["kink"])
def test_accepted_in_vain():
    assert good() == 6

@pytest.mark.gradproof(off=True)
def test_off():
    assert bad() == 0

@pytest.mark.gradproof(fail_on="never")
def test_never():
    assert bad() == 0

def test_usual():
    assert gradient(lambda x: np.sin(x) * np.float32(3), np.float32(0.1)) > 0

@pytest.mark.gradproof(tolerance={"float32": 1e-12})
class TestTight:
    def test_by_class(self):
        assert gradient(lambda x: np.sin(x) * np.float32(3), np.float32(0.1)) > 0

    @pytest.mark.gradproof(tolerance=1e-3)
    def test_the_nearest_counts(self):
        assert gradient(lambda x: np.sin(x) * np.float32(3), np.float32(0.1)) > 0
""",
        "--gradproof",
        "-rA",
    )
    text = text_of(result)
    passed = set(re.findall(r"^PASSED test_it.py::(\S+)", text, re.M))
    assert passed >= {
        "test_accepted", "test_all_accepted", "test_accepted_by_verdict", "test_accepted_in_vain", "test_off",
        "test_never", "test_usual", "TestTight::test_the_nearest_counts",
    }  # fmt: skip
    failed = set(re.findall(r"^FAILED test_it.py::(\S+)", text, re.M))
    assert failed >= {"test_another_cause_is_accepted", "TestTight::test_by_class"}
    assert "note: test_it.py::test_accepted_in_vain accepts `kink`, which did not occur" in text
    assert "note: test_it.py::test_another_cause_is_accepted accepts `kink`, which did not occur" in text
    assert "test_accepted accepts" not in text


def test_settings_come_from_the_ini_file_too(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\ngradproof = true\ngradproof_fail_on = never\ngradproof_json = report.json\n")
    result = run(suite, "def test_bad():\n    assert bad() == 0\n")
    result.assert_outcomes(passed=1)
    assert "report: report.json" in text_of(result)
    [gradient] = json.loads((suite.path / "report.json").read_text())["gradients"]
    assert (gradient["verdict"], gradient["file"], gradient["line"]) == ("inaccurate", "model.py", 14)


def test_each_test_has_its_first_execution_checked_and_the_budget_is_kept(suite: pytest.Pytester) -> None:
    tests = """
@pytest.mark.parametrize("k", range(4))
def test_loop(k):
    for _ in range(20):
        good()
"""
    text = text_of(run(suite, tests, "--gradproof"))
    assert "12 gradients in 4 tests: 12 correct" in text  # the 1st, 2nd and 10th of each
    assert "not checked: 68 gradients, such as at model.py:14:12" in text
    text = text_of(run(suite, tests, "--gradproof", "--gradproof-checks=1,5", "--gradproof-budget=0"))
    assert "4 gradients in 4 tests: 4 unverified" in text
    assert "a larger --gradproof-budget reaches it" in text


@pytest.mark.skipif(find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_the_workers_of_xdist_make_one_report(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
@pytest.mark.parametrize("k", range(4))
def test_good(k):
    assert good(k + 1.0) == 2 * (k + 1.0)

def test_bad():
    assert bad() == 0

@pytest.mark.gradproof(accept=["kink"])
def test_in_vain():
    good()
""",
        "--gradproof",
        "-n2",
        "--gradproof-json=report.json",
        "--gradproof-html=report.html",
    )
    result.assert_outcomes(failed=1, passed=5)
    text = text_of(result)
    assert text.count("6 gradients in 6 tests: 5 correct and 1 inaccurate") == 1
    assert f"FAILED test_it.py::test_bad - {HEADLINE}" in text
    assert "accepts `kink`, which did not occur" in text
    assert len(json.loads((suite.path / "report.json").read_text())["gradients"]) == 6
    assert "cancellation" in (suite.path / "report.html").read_text()


def test_it_can_be_left_out(suite: pytest.Pytester) -> None:
    result = run(suite, "def test_bad():\n    assert bad() == 0\n", "-p", "no:gradproof")
    result.assert_outcomes(passed=1)
    assert run(suite, "def test_it():\n    pass\n", "-p", "no:gradproof", "--gradproof").ret == 4


def test_inside_github_actions_the_lines_of_the_change_are_marked(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(suite.path))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    result = run(suite, "def test_bad():\n    assert bad() == 0\n", "--gradproof")
    assert "::error file=model.py,line=7," in result.stderr.str()


@pytest.mark.tensorflow
@without_tensorflow
def test_gradients_of_tensorflow_are_audited_in_every_test(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_it="""
        import pytest
        import tensorflow as tf


        @tf.function
        def compiled(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.where(x > 0.5, tf.math.log(x), 0.0)
            return tape.gradient(y, x)


        def eager(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            return tape.gradient(y, x)


        @pytest.mark.parametrize("x", [1.0, 2.0, 3.0, 4.0])
        def test_eager(x):
            assert eager(tf.constant(x)) == 2 * x


        @pytest.mark.parametrize("x", [2.0, 0.0, 4.0])
        def test_compiled(x):
            compiled(tf.constant(x))


        @pytest.mark.gradproof(accept=["masked-branch"])
        def test_accepted():
            compiled(tf.constant(0.0))


        class TestCase(tf.test.TestCase):
            def test_variable(self):
                x = tf.Variable(3.0)
                with tf.GradientTape() as tape:
                    y = tf.exp(x)
                self.assertAllClose(tape.gradient(y, x), y)
        """
    )
    result = suite.runpytest_subprocess("-p", "no:cacheprovider", "--gradproof", "--strict-markers", "-rA")
    text = text_of(result)
    assert re.findall(r"^FAILED \S+::(\S+)", text, re.M) == ["test_compiled[0.0]"]
    assert re.search(r"FAILED .*error\[masked-branch\]", text)
    assert "9 gradients in 9 tests: 7 correct, 1 NaN/inf and 1 intended" in text


@pytest.mark.tensorflow
@without_tensorflow
def test_a_failure_of_assert_correct_with_tensorflow_is_the_diagnosis(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_it="""
        import gradproof
        import tensorflow as tf


        def entropy(p):
            return tf.reduce_sum(tf.where(p > 0.1, p * tf.math.log(p), 0.0))


        def test_entropy():
            gradproof.assert_correct(entropy, tf.constant([0.5, 0.0, 0.5]))
        """
    )
    result = suite.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert re.search(r"FAILED \S+::test_entropy - \S+py:6:\d+: error\[masked-branch\]", text)
    assert "checking.py" not in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is needed")
def test_a_report_that_could_not_be_written_is_told_and_fails_the_session(suite: pytest.Pytester) -> None:
    result = run(suite, "def test_good():\n    good()\n", "--gradproof", "--gradproof-json=/dev/full")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*`/dev/full` could not be written: No space left on device"])
    result.stdout.no_fnmatch_line("report: *")


def test_a_marker_that_is_not_understood_fails_its_test_alone(suite: pytest.Pytester) -> None:
    tests = (
        "@pytest.mark.gradproof(acept=['kink'])\ndef test_misspelt():\n    good()\n\n"
        "@pytest.mark.gradproof(accept=['knik'])\ndef test_unknown():\n    good()\n\n"
        "def test_good():\n    good()\n"
    )
    result = run(suite, tests, "--gradproof")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines_random(
        ["*has no argument `acept`*did you mean `accept`?*", "*accepts `knik`*did you mean `kink`?*"]
    )


def test_the_settings_of_the_project_hold(suite: pytest.Pytester) -> None:
    table = "[tool.gradproof]\naccept = ['cancellation']\nchecks = 'first'\n"
    (suite.path / "pyproject.toml").write_text(table)
    tests = "def test_bad():\n    bad()\n"
    run(suite, tests, "--gradproof").assert_outcomes(passed=1)
    (suite.path / "pyproject.toml").write_text("[tool.gradproof]\nfail-on = 'never'\n")
    run(suite, tests, "--gradproof").assert_outcomes(passed=1)
    run(suite, tests, "--gradproof", "--gradproof-fail-on=error").assert_outcomes(failed=1)
    (suite.path / "pyproject.toml").write_text("[tool.gradproof]\nfale-on = 'never'\n")
    assert run(suite, tests, "--gradproof").ret == pytest.ExitCode.USAGE_ERROR


def test_checks_can_be_made_later(suite: pytest.Pytester) -> None:
    tests = "def test_bad():\n    bad()\n\ndef test_good():\n    good()\n"
    result = run(suite, tests, "--gradproof", "--gradproof-defer", "kept")
    result.assert_outcomes(passed=2)
    assert "2 gradient calls kept in kept" in text_of(result)
    later = suite.run(sys.executable, "-m", "gradproof", "examine", "kept", "--concise")
    assert later.ret == 1
    assert HEADLINE in later.stdout.str()
    again = run(suite, tests, "--gradproof", "--gradproof-defer", "kept")
    assert "holds what an earlier run has written" in again.stderr.str()
