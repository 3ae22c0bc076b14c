"""A script under `gradproof run` behaves as under `python`: output, exit status, traceback, `__main__`."""

from __future__ import annotations

import re
import signal
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.running import gradproof, interruptible, python

IDENTITY = """\
import os, sys, __main__
print(__name__, __file__, sys.argv, sys.path[0], __spec__ and __spec__.name, __package__, type(__loader__).__name__)
print(sorted(name for name in globals() if name.startswith("__")), os.getcwd(), __builtins__)
print(__main__.__dict__ is globals(), "gradproof.cli" in repr(__main__))
"""
SCRIPTS = {
    "names": IDENTITY,
    "exit with a number": "import sys; print(1); sys.exit(3)",
    "exit with a text": "import sys; sys.exit('that is all')",
    "exit with nothing": "import sys; sys.exit()",
    "exit with a large number": "import sys; sys.exit(257)",
    "sudden exit": "import os; print(1, flush=True); print(2); os._exit(4)",
    "exception": "def f():\n    return 1 / 0\n\n\ndef g():\n    f()\n\n\ng()\n",
    "exception with a cause": "try:\n    1 / 0\nexcept Exception as error:\n    raise ValueError('x') from error\n",
    # As JAX does with the place of an op whose derivative cannot be computed.
    "exception with the whole stack in its cause": "import sys, types\ndef stack():\n"
    "    frame, trace = sys._getframe(1), None\n    while frame is not None:\n"
    "        trace, frame = types.TracebackType(trace, frame, frame.f_lasti, frame.f_lineno), frame.f_back\n"
    "    return trace\ndef f():\n    raise ValueError('x') from KeyError(1).with_traceback(stack())\nf()\n",
    "own exception hook": "import sys; sys.excepthook = lambda *e: print('hook', e[0]); raise KeyError(1)",
    "broken exception hook": "import sys\ndef hook(*e):\n    raise TypeError('hook')\nsys.excepthook = hook\n1/0\n",
    "syntax error": "x = 1\ndef f(:\n    pass\n",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)\n",
    "random numbers": "import random, numpy as np\nnp.random.seed(1); random.seed(1)\n"
    "import gradproof as gp\nx = gp.Variable(1.0)\nfor i in range(3):\n"
    "    with gp.GradientTape() as tape:\n        y = x * np.random.rand() * random.random()\n"
    "    print(float(tape.gradient(y, x)), np.random.rand(), random.random())\n",
    "warnings once per line": "import warnings, numpy as np, gradproof as gp\nx = gp.Variable(np.array([0.0, 1.0]))\n"
    "for i in range(4):\n    warnings.warn('mine')\n"
    "    with gp.GradientTape() as tape:\n        y = np.sum(np.sqrt(x))\n    tape.gradient(y, x)\n",
    "warnings as errors": "import warnings, numpy as np, gradproof as gp\nwarnings.simplefilter('error')\n"
    "x = gp.Variable(np.array([1.0, 2.0]))\nwith gp.GradientTape() as tape:\n    y = np.sum(np.log(x))\n"
    "print(tape.gradient(y, x), np.geterr())\nwarnings.warn('mine')\n",
    # What we have loaded is not looked through by the program's collections, which then take as long as they do alone.
    "garbage": "import gc, types\n"
    "functions = [one for one in gc.get_objects() if isinstance(one, types.FunctionType)]\n"
    "print(gc.isenabled(), [one for one in functions if 'gradproof.engine' in str(one.__module__)])\n",
    "at exit": "import atexit; atexit.register(print, 'the end'); print('begin')",
    "closed output": "import sys; print(1); sys.stdout.close(); sys.stderr.close()",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_does_the_same_as_under_python(name: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPTS[name])
    plain = python(tmp_path, "script.py", "-m", "--json", "a b")
    audited = gradproof(tmp_path, "run", "--fail-on", "never", "script.py", "-m", "--json", "a b")
    assert audited.stdout == plain.stdout
    assert audited.returncode == plain.returncode
    # The report comes last; before it stands what Python itself has written, without a frame of ours.
    assert audited.stderr.startswith(plain.stderr)
    assert "gradproof: " in audited.stderr[len(plain.stderr) :] or name == "closed output"


def test_folders_archives_and_modules_run_as_under_python(tmp_path: Path) -> None:
    for folder in ("folder", "package"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__main__.py").write_text(IDENTITY + "import helper\n")
        (tmp_path / folder / "helper.py").write_text("print('helper', __name__)")
    (tmp_path / "package" / "__init__.py").write_text("print('init')")
    (tmp_path / "package" / "__main__.py").write_text(IDENTITY + "from . import helper\n")
    with zipfile.ZipFile(tmp_path / "archive.pyz", "w") as archive:
        archive.write(tmp_path / "folder" / "__main__.py", "__main__.py")
        archive.write(tmp_path / "folder" / "helper.py", "helper.py")
    for words in (["folder", "x"], ["archive.pyz"], ["-m", "package", "-m", "y"], ["-m", "package.helper"]):
        plain = python(tmp_path, *words)
        audited = gradproof(tmp_path, "run", *words)
        assert plain.returncode == audited.returncode == 0, audited.stderr
        assert plain.stdout == audited.stdout


def test_a_forked_child_does_not_report(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import os, sys, gradproof as gp\nx = gp.Variable(2.0)\nchild = os.fork()\n"
        "with gp.GradientTape() as tape:\n    y = x * x\ntape.gradient(y, x)\n"
        "if child:\n    print(os.waitstatus_to_exitcode(os.wait()[1]))\nelse:\n    sys.exit(5)\n"
    )
    done = gradproof(tmp_path, "run", "script.py")
    assert done.stdout == "5\n"
    assert done.returncode == 0
    assert done.stderr.count("gradproof: 1 gradient correct, proven") == 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_work_and_only_the_parent_reports(method: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import multiprocessing\n\n\ndef square(x):\n    return x * x\n\n\nif __name__ == '__main__':\n"
        f"    with multiprocessing.get_context('{method}').Pool(2) as pool:\n"
        "        print(pool.map(square, [1, 2, 3]))\n"
    )
    done = gradproof(tmp_path, "run", "script.py")
    assert done.stdout == "[1, 4, 9]\n"
    assert done.stderr.count("no gradient was seen") == 1


def test_gradients_of_a_thread_that_outlives_the_script_are_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import threading, time, gradproof as gp\n\n\ndef work():\n    time.sleep(0.3)\n    x = gp.Variable(3.0)\n"
        "    with gp.GradientTape() as tape:\n        y = x * x\n    tape.gradient(y, x)\n\n\n"
        "threading.Thread(target=work).start()\n"
    )
    assert "1 gradient correct, proven" in gradproof(tmp_path, "run", "script.py").stderr


def test_a_thread_that_ctrl_c_kept_from_starting_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import threading\n\n\ndef interrupted(*args):\n    raise KeyboardInterrupt\n\n\n"
        "start, threading._start_new_thread = threading._start_new_thread, interrupted\n"
        "try:\n    threading.Thread(target=print).start()\nexcept KeyboardInterrupt:\n"
        "    threading._start_new_thread = start\nprint(threading.active_count())\n"
    )
    done = gradproof(tmp_path, "run", "script.py")
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("pool", ["Thread", "Process"])
def test_a_pool_that_nobody_shuts_down_is_waited_for_as_long_as_it_works(pool: str, tmp_path: Path) -> None:
    """What compiles in a pool of its own, as PyTorch does, leaves it to Python's end."""
    (tmp_path / "script.py").write_text(
        "import time, gradproof as gp\nfrom concurrent.futures import PoolExecutor as Pool\n\n\n"
        "def differentiate(done):\n    time.sleep(0.3)\n    x = gp.Variable(done.result())\n"
        "    with gp.GradientTape() as tape:\n"
        "        y = x * x\n    tape.gradient(y, x)\n\n\ndef work():\n    time.sleep(0.3)\n    return 3.0\n\n\n"
        "if __name__ == '__main__':\n    pool = Pool(1)\n    pool.submit(work).add_done_callback(differentiate)\n"
        "    print('the last line')\n".replace("PoolExecutor", f"{pool}PoolExecutor")
    )
    done = gradproof(tmp_path, "run", "script.py")
    assert (done.returncode, done.stdout) == (0, "the last line\n")
    assert "1 gradient correct, proven" in done.stderr


def test_an_interrupted_script_is_reported_with_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import time, gradproof as gp\nx = gp.Variable(2.0)\nwith gp.GradientTape() as tape:\n    y = x * x\n"
        "tape.gradient(y, x)\nprint('ready', flush=True)\ntime.sleep(60)\n"
    )
    words = [sys.executable, "-m", "gradproof", "run", "script.py"]
    with interruptible(words, tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.startswith("Traceback (most recent call last):\n")
    # The signal may arrive before the script has gone on from its print.
    assert re.search(r"line [67], in <module>\n    (time.sleep|print)", errors)
    assert "\nKeyboardInterrupt\n\n" in errors
    assert "the script ended with KeyboardInterrupt" in errors
    assert "1 gradient correct, proven" in errors
