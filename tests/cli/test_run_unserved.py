"""A script in a framework that is not served is told so: it never ends well in silence."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from gradproof.frontends.unserved import KNOWN
from tests.cli.running import RIGHT, gradproof

# A package as its users import it; none of these is installed where the tests run.
PACKAGE = "def gradient(x):\n    return 2 * x\n"
SAID = "the script uses {0}, and gradproof does not see the gradients that {0} computes"


def folder_with(folder: Path, package: str, script: str) -> Path:
    library = folder / "site-packages" / package
    library.mkdir(parents=True)
    (library / "__init__.py").write_text(PACKAGE)
    (folder / "script.py").write_text(f"import sys\nsys.path.insert(0, {str(library.parent)!r})\n{script}")
    return folder


@pytest.mark.parametrize("package", ["mxnet", "paddle", "mindspore", "tinygrad"])
def test_it_is_said_and_the_status_is_2(package: str, tmp_path: Path) -> None:
    script = f"from {package} import gradient\nprint(gradient(3.0))\n"
    done = gradproof(folder_with(tmp_path, package, script), "run", "--quiet", "script.py")
    assert (done.returncode, done.stdout) == (2, "6.0\n")
    said = SAID.format(KNOWN[package])
    assert done.stderr == f"gradproof: no gradient was checked: {said}\n"


def test_every_form_says_it_and_failing_never_does_not_hide_it(tmp_path: Path) -> None:
    folder_with(tmp_path, "tinygrad", "def f():\n    import tinygrad\n\n\nf()\n")
    words = ["--json", "r.json", "--sarif", "r.sarif", "--junit", "r.xml", "--html", "r.html"]
    done = gradproof(tmp_path, "run", *words, "--concise", "--fail-on", "never", "script.py")
    said = SAID.format("tinygrad")
    assert done.returncode == 2
    assert f"script.py: warning[not-served]: {said}\n" in done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["script"]["unserved"] == ["tinygrad"]
    for form in ("sarif", "html"):
        assert said in (tmp_path / f"r.{form}").read_text()
    [error] = xml.parse(tmp_path / "r.xml").getroot().iter("error")
    assert error.get("message") == said
    again = gradproof(tmp_path, "render", "r.json", "--quiet")
    assert again.stdout == f"gradproof: no gradient was checked: {said}\n"


def test_beside_gradients_that_were_checked_it_is_a_warning(tmp_path: Path) -> None:
    done = gradproof(folder_with(tmp_path, "mxnet", f"import mxnet\n{RIGHT}"), "run", "script.py")
    assert done.returncode == 0
    assert "warning: the script uses MXNet" in done.stderr
    assert done.stderr.endswith("gradproof: 3 gradients correct, proven; nothing to fix\n")


def test_what_a_library_imports_for_itself_is_its_own_affair(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "mxnet", "import plots\n")
    (folder / "site-packages" / "plots.py").write_text("import mxnet\n")
    done = gradproof(folder, "run", "script.py")
    assert done.returncode == 0
    assert "MXNet" not in done.stderr


def test_an_import_that_was_not_reached_is_none(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("try:\n    import mindspore\nexcept ImportError:\n    pass\n")
    assert gradproof(tmp_path, "run", "script.py").returncode == 0


def test_a_script_that_failed_keeps_its_own_status(tmp_path: Path) -> None:
    done = gradproof(
        folder_with(tmp_path, "mxnet", "import mxnet\nraise SystemExit(7)\n"), "run", "script.py"
    )
    assert done.returncode == 7
    assert "MXNet" in done.stderr
