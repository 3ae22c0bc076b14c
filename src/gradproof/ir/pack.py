"""Frozen records as one block of bytes and back: no pickle, classes from a closed table, arrays mapped and not copied.

What is told of a block (`ir/block`) is the classes that occur with the names of their fields, the dtypes and shapes of
the arrays, and the records in an order in which each refers only to earlier ones. An object that occurs twice is
written once, and is one object again when it is read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from operator import attrgetter
from typing import Any, Protocol

import numpy as np

from gradproof.errors import InvalidProgram, NotData, UnreadableCapture
from gradproof.ir import types
from gradproof.ir.block import ALIGN, Gathered, aligned, compare, index_of, parted
from gradproof.ir.field_types import check_fields
from gradproof.ir.types import Array

_SAMPLE = 64  # bytes at both ends that are looked at before two arrays are compared


@dataclass(frozen=True)
class Packing:
    """How objects of one class are written: by their fields, unless `take` and `make` say otherwise."""

    cls: type[Any]
    names: tuple[str, ...]
    take: Callable[[Any], Iterable[Any]]
    make: Callable[..., Any]


def plain(cls: type[Any]) -> Packing:
    """Of a dataclass, by its fields; of an enumeration, by its value."""
    if issubclass(cls, Enum):
        return Packing(cls, ("value",), lambda one: (one.value,), cls)
    names = tuple(field.name for field in fields(cls))
    if len(names) < 2:  # what takes one field gives no tuple
        return Packing(cls, names, lambda one: [getattr(one, name) for name in names], cls)
    return Packing(cls, names, attrgetter(*names), cls)


class Packings(Protocol):
    """The classes that may occur: a closed table, which nothing in a block can add to."""

    def name_of(self, cls: type[Any]) -> str | None: ...

    def named(self, name: str) -> Packing | None: ...


def gather(value: Any, packings: Packings) -> Gathered:
    """`NotData` where something in it is no data."""
    writer = _Packer(packings)
    root = writer.data(value)
    told = {"classes": writer.used, "arrays": writer.table, "records": writer.records, "root": root}
    return Gathered(told, writer.raws)


def pack(value: Any, packings: Packings) -> list[bytes | memoryview]:
    """The block in pieces that follow each other; `NotData` where something in it is no data."""
    return gather(value, packings).parts()


def unpack(block: Any, packings: Packings) -> Any:
    """What a block of bytes holds; anything that is not one is refused by `UnreadableCapture`."""
    header, data = parted(block)
    try:
        found = json.loads(bytes(header))
        compare(found["sums"], data)
        return _Reader(found, data, packings).value(found["root"])
    except InvalidProgram as error:
        raise UnreadableCapture(f"damaged or forged: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise UnreadableCapture(f"damaged or forged: {type(error).__name__}: {error}") from error


_AS_IS = frozenset({type(None), bool, int, float, str})


class _Packer:
    def __init__(self, packings: Packings) -> None:
        self._packings = packings
        self._records: dict[int, int] = {}
        self._arrays: dict[Any, int] = {}
        self._contents: dict[Any, list[tuple[int, Any]]] = {}
        self._size = 0
        self._alive: list[Any] = []  # what is known by its address must not go away
        self.used: dict[str, tuple[str, ...]] = {}
        self.table: list[list[Any]] = []
        self.records: list[list[Any]] = []
        self.raws: list[bytes | memoryview] = []  # each begins on a boundary

    def data(self, value: Any) -> Any:
        """The value as JSON: a list is a tuple, an object with one key is anything else."""
        kind = type(value)
        if kind in _AS_IS:
            return value
        if kind is tuple:
            return self._each(value)
        if kind is np.ndarray:
            return {"a": self._array(value)}
        name = self._packings.name_of(kind)
        return self._rare(value) if name is None else {"r": self._record(value, name)}

    def _each(self, values: Iterable[Any]) -> list[Any]:
        """Most of what a record holds is written as it is, and there are thousands of records."""
        return [one if type(one) in _AS_IS else self.data(one) for one in values]

    def _rare(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {"d": [[self.data(key), self.data(item)] for key, item in value.items()]}
        if type(value) is list:
            return {"l": self._each(value)}
        if isinstance(value, frozenset | set):
            return {"s": self._each(value), "frozen": isinstance(value, frozenset)}
        if isinstance(value, str):
            return str(value)  # the version of a framework may be a word of its own kind
        if type(value) is complex:
            return {"c": [value.real, value.imag]}
        if type(value) is bytes:
            return {"b": value.hex()}
        if isinstance(value, np.generic):
            return {"n": self._array(np.asarray(value))}
        raise NotData(f"{type(value).__module__}.{type(value).__qualname__}")

    def _record(self, value: Any, name: str) -> int:
        known = self._records.get(id(value))
        if known is not None:
            return known
        packing = self._packings.named(name)
        assert packing is not None
        self.used[name] = packing.names
        try:
            check_fields(value)  # what would be refused when it is read is not written now
        except ValueError as error:
            raise NotData(str(error)) from error
        entry = [name, *self._each(packing.take(value))]
        self._alive.append(value)
        self.records.append(entry)
        self._records[id(value)] = len(self.records) - 1
        return len(self.records) - 1

    def _array(self, array: Array) -> int:
        place = (array.__array_interface__["data"][0], array.dtype.str, array.shape, array.strides)
        known = self._arrays.get(place)
        if known is not None:
            return known
        name = _dtype_name(array.dtype)
        # The order in memory is the order in which sums are made: another one may round differently.
        order = "F" if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        flat = np.ascontiguousarray(array.T if order == "F" else array)
        raw: Any = flat.reshape(-1).view(np.uint8).data if flat.size else b""
        self.table.append([name, list(array.shape), order, self._place(raw)])
        self._alive += [array, flat]
        self._arrays[place] = len(self.table) - 1
        return len(self.table) - 1

    def _place(self, raw: Any) -> int:
        """Where these bytes begin. A matrix and its transpose, or a gradient and a copy of it, are the same bytes."""
        ends = len(raw), bytes(raw[:_SAMPLE]), bytes(raw[-_SAMPLE:])
        for start, known in self._contents.get(ends, ()):
            one, other = _bytes(known), _bytes(raw)  # a memoryview compares one byte after the other
            if types.is_one_place(one, other) or np.array_equal(one, other):
                return start
        start = self._size
        self.raws.append(raw)
        self._size += aligned(len(raw))
        self._contents.setdefault(ends, []).append((start, raw))
        return start


def _bytes(raw: Any) -> Array:
    return np.frombuffer(raw, np.uint8)


def _dtype_name(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "SU" and dtype.itemsize:
        return dtype.str  # words, as parameters of ops may be
    try:
        return types.dtype_name(np.empty((), dtype))
    except Exception as error:
        raise NotData(f"an array of dtype {dtype}") from error


def _dtype(name: str) -> np.dtype[Any]:
    if name[:2] in ("|S", "<U") and name[2:].isdecimal():
        return np.dtype(name)
    if types.is_real(name) or types.is_complex(name) or types.is_discrete(name):
        return types.numpy_dtype(name)
    raise ValueError(f"{name!r} is no dtype of numbers")


class _Reader:
    def __init__(self, found: Any, data: memoryview, packings: Packings) -> None:
        self._packings: dict[str, Packing] = {}
        for name, names in found["classes"].items():
            packing = packings.named(name)
            if packing is None or list(packing.names) != names:
                raise UnreadableCapture(
                    f"written by another version of gradproof, which has another `{name}`"
                )
            self._packings[name] = packing
        self._arrays = _arrays(found["arrays"], data)
        self._records: list[Any] = []
        for name, *parts in found["records"]:
            self._records.append(self._made(name, [self.value(part) for part in parts]))

    def _made(self, name: str, parts: list[Any]) -> Any:
        packing = self._packings[name]
        if len(parts) != len(packing.names):
            raise ValueError(f"a record of {name!r} has {len(parts)} fields")
        made = packing.make(*parts)
        check_fields(made)
        return made

    def value(self, data: Any) -> Any:
        if isinstance(data, list):
            return tuple(self.value(item) for item in data)
        if not isinstance(data, dict):
            return data
        if "r" in data:
            return self._records[index_of(data["r"])]
        if "a" in data:
            return self._arrays[index_of(data["a"])]
        if "d" in data:
            return {self.value(key): self.value(item) for key, item in data["d"]}
        return self._rare(data)

    def _rare(self, data: dict[str, Any]) -> Any:
        if "l" in data:
            return [self.value(item) for item in data["l"]]
        if "s" in data:
            items = (self.value(item) for item in data["s"])
            return frozenset(items) if data["frozen"] else set(items)
        if "c" in data:
            return complex(*data["c"])
        if "b" in data:
            return bytes.fromhex(data["b"])
        return self._arrays[index_of(data["n"])][()]


def _arrays(table: Any, data: memoryview) -> list[Array]:
    found = []
    for name, shape, order, start in table:
        dtype, sizes = _dtype(name), tuple(index_of(size) for size in shape)
        length = math.prod(sizes) * dtype.itemsize
        if index_of(start) % ALIGN or start + length > len(data) or order not in ("C", "F"):
            raise ValueError("an array reaches beyond the end")
        flat = np.frombuffer(data[start : start + length], dtype=dtype) if length else np.empty(0, dtype)
        found.append(flat.reshape(sizes[::-1]).T if order == "F" else flat.reshape(sizes))
    return found
