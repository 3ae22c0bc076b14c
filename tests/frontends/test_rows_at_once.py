"""Hessians and Jacobians of framework functions: all rows at once say what each row says alone."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from tests.audit.jacobian_cases import OTHER, RIGHT, assert_at_once, assert_same


def _in_tensorflow(function: Any, point: Any) -> tuple[Callable[..., Any], Any]:
    tf = pytest.importorskip("tensorflow")
    return lambda x: function(_Names(tf, "math", log="math.log", sum="reduce_sum"), x), tf.constant(point)


def _in_torch(function: Any, point: Any) -> tuple[Callable[..., Any], Any]:
    torch = pytest.importorskip("torch")
    return lambda x: function(torch, x), torch.tensor(point)


def _in_jax(function: Any, point: Any) -> tuple[Callable[..., Any], Any]:
    jnp = importlib.import_module("jax.numpy") if pytest.importorskip("jax") else None
    assert jnp is not None
    return lambda x: function(jnp, x), jnp.asarray(point)


class _Names:
    """A framework by the names that NumPy has for its functions."""

    def __init__(self, module: Any, *others: str, **names: str) -> None:
        self._modules, self._names = (module, *(getattr(module, one) for one in others)), names

    def __getattr__(self, name: str) -> Any:
        path = self._names.get(name, name).split(".")
        for module in self._modules:
            found = module
            for part in path:
                found = getattr(found, part, None)
            if found is not None:
                return found
        raise AttributeError(name)


FRAMEWORKS = {"tensorflow": _in_tensorflow, "torch": _in_torch, "jax": _in_jax}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", {**RIGHT, **OTHER})
def test_second_derivatives_at_once_are_those_of_each_row(
    framework: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, point = FRAMEWORKS[framework](*{**RIGHT, **OTHER}[name])
    assert_same(monkeypatch, function, point, order=2)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_rows_that_are_right_are_judged_at_once(framework: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, point = FRAMEWORKS[framework](*RIGHT["network"])
    assert_at_once(monkeypatch, function, point, order=2)
    assert_at_once(monkeypatch, lambda x: function(x) * x, point, output="each")
