"""`gradproof check`: checks one function of a module or a file at given values."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gradproof.checking import check
from gradproof.cli import output
from gradproof.cli.github import tell_github
from gradproof.cli.progress import showing
from gradproof.cli.values import DTYPES, parse_values
from gradproof.diagnosis.report import Report
from gradproof.errors import InvalidInput, NotScalar, did_you_mean
from gradproof.frontends.select import FRAMEWORKS, to_framework
from gradproof.frontends.written_with import framework_of
from gradproof.options import Options


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "gradproof check MODULE:FUNCTION --at VALUE [VALUE...] [options]"
    parser.epilog = (
        "Values are written as Python writes them: 0.5, [1, 2, 3], w=[[1, 0], [0, 1]]; they become arrays of "
        "--dtype. MODULE is a module that can be imported from here, or a file. The report goes to the "
        "standard output."
    )
    parser.add_argument("function", metavar="MODULE:FUNCTION")
    parser.add_argument(
        "--at",
        nargs="+",
        action="extend",
        required=True,
        metavar="VALUE",
        help="the arguments of the function",
    )
    parser.add_argument(
        "--dtype", choices=DTYPES, default="float64", help="of the arguments (default: float64)"
    )
    parser.add_argument(
        "--framework",
        choices=FRAMEWORKS,
        help="what the arguments are made with (default: what the function is written with)",
    )
    parser.add_argument(
        "--gradient", metavar="FUNCTION", help="a gradient written by hand, in the same module"
    )
    parser.add_argument(
        "--order", type=int, choices=(1, 2), default=1, help="2 checks the second derivatives"
    )
    parser.add_argument("--each", action="store_true", help="check every entry of a result that is an array")
    output.add_witness(parser)
    output.configure(parser)


def execute(given: argparse.Namespace) -> int:
    paths = output.writable_paths(given)
    module, name = find_module(given.function)
    function = _function(module, name)
    gradient = None if given.gradient is None else _function(module, given.gradient)
    args, kwargs = parse_values(given.at, given.dtype)
    framework = given.framework or framework_of(function)
    with showing(given.detail == "quiet"):
        report = _checked(
            function,
            *(to_framework(framework, value) for value in args),
            gradient=gradient,
            order=given.order,
            output="each" if given.each else None,
            options=Options(witness=given.witness),
            **{key: to_framework(framework, value) for key, value in kwargs.items()},
        )
    written = output.write_files(report, paths, given.full)
    output.print_report(report, sys.stdout, given.detail)
    tell_github(report, sys.stderr, os.getcwd())
    if given.detail != "quiet":
        output.say_written(written, os.getcwd())
    return report.exit_status(given.fail_on) if len(written) == len(paths) else output.NOT_WRITTEN


def find_function(text: str) -> Callable[..., Any]:
    """The function that MODULE:FUNCTION means."""
    return _function(*find_module(text))


def find_module(text: str) -> tuple[ModuleType, str]:
    """The module of MODULE:FUNCTION, imported, and the name of the function."""
    module_name, colon, name = text.rpartition(":")
    if not colon or not module_name or not name:
        raise InvalidInput(f"`{text}` is not MODULE:FUNCTION, as in `losses:huber` or `losses.py:huber`")
    return _module(module_name), name


def _checked(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
    """What is wrong with the call is said in the words of the command line."""
    try:
        return check(function, *args, **kwargs)
    except NotScalar as error:
        fault = str(error).partition("\n")[0].removeprefix("check() needs")
        raise InvalidInput(f"check needs{fault}\n  to check every entry of the result, add --each") from error


def _module(name: str) -> ModuleType:
    """A file by its path, or a module by its name with the current folder in front, as `python -m` has it."""
    try:
        if name.endswith(".py") or os.sep in name:
            return _from_file(name)
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(name)
    except InvalidInput:
        raise
    except ModuleNotFoundError as error:
        raise InvalidInput(f"`{name}` could not be imported: {error}") from error
    except Exception as error:
        raise InvalidInput(f"`{name}` could not be imported: {type(error).__name__}: {error}") from error


def _from_file(path: str) -> ModuleType:
    if not os.path.isfile(path):
        raise InvalidInput(f"there is no file `{path}`")
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, os.path.abspath(path))
    if spec is None or spec.loader is None:
        raise InvalidInput(f"`{path}` is not a Python file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _function(module: ModuleType, name: str) -> Callable[..., Any]:
    found: Any = module
    for part in name.split("."):
        names = (
            [key for key, each in vars(found).items() if not key.startswith("__") and callable(each)]
            if hasattr(found, "__dict__")
            else []
        )
        if not hasattr(found, part):
            raise InvalidInput(f"`{module.__name__}` has no function `{name}`{did_you_mean(part, names)}")
        found = getattr(found, part)
    if not callable(found):
        raise InvalidInput(
            f"`{name}` of `{module.__name__}` is no function but of type {type(found).__name__}"
        )
    return found  # type: ignore[no-any-return]
