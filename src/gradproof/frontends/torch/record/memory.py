"""Which numbers a tensor holds: PyTorch's tensors share memory and change, so a value is a place at a time.

A `Cell` is a tensor at one moment: its numbers never change. A `Store` is one piece of memory; every write begins a
new epoch of it. Before a write the cells of the old epoch get copies of their own, and after it what was written is
joined with the rest by events of ours, so that the record reads as if nothing had ever been changed in place.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from gradproof.frontends.torch.record.arrays import Moment, array_of, lent_view
from gradproof.frontends.torch.record.places import holds, places

GATHER = "gradproof.Gather"
"""Entries of another view of the same memory: attrs have their `places` in it."""
WRITE = "gradproof.Write"
"""A view after entries of it, at `places`, were written through another view."""
PASS_ON = "gradproof.PassOn"
"""The same numbers as another value: an output of a function of the user's that is its input, or memory of others."""
DETACH = "aten.detach.default"

_numbers = itertools.count(1)
Layout = tuple[int, tuple[int, ...], tuple[int, ...], torch.dtype, bool, bool]
Cover = tuple["Cell", Any]
Emit = Callable[[str, tuple["Cell", ...], "Cell", dict[str, Any]], None]


@dataclass(slots=True, eq=False)
class Cell:
    """One tensor at one moment. `leaf` is the user's tensor where it is one that gradients are collected in."""

    id: int
    tensor: Any  # shares memory with the user's until that is written to; None once `array` is known
    dtype: str
    shape: tuple[int, ...]
    requires_grad: bool
    leaf: Any = None
    origin: Cell | None = None  # what it was detached from
    unseen: bool = False  # it has a history that was not recorded
    numbers: np.ndarray[Any, Any] | None = None
    memory: int | None = None  # the piece of memory it was read from
    before: Cell | None = None  # what a leaf was when it was computed, before it was told to be one
    moment: Moment | None = None  # what it shares with the other views of its memory

    def array(self) -> np.ndarray[Any, Any]:
        if self.numbers is None:
            lent = lent_view(self.tensor)
            if lent is not None:
                return lent
            shared = None if self.moment is None else self.moment.view(self.tensor)
            self.numbers = array_of(self.tensor) if shared is None else shared
        return self.numbers

    def freeze(self) -> None:
        """Its memory is about to change: keep the numbers."""
        if self.numbers is None and self.tensor is not None:
            self.numbers = None if self.moment is None else self.moment.view(self.tensor)
            self.tensor = torch.ops.aten.clone.default(self.tensor) if self.numbers is None else None
            self.moment = None  # a clone has memory of its own


@dataclass(slots=True, eq=False)
class Store:
    """One piece of memory in its present epoch; `held` keeps its address from being given to another one."""

    held: Any
    cells: dict[Layout, list[Cell]] = field(default_factory=dict)
    moment: Moment = field(default_factory=Moment)


class Memory:
    """The values of all tensors that were seen; `emit` takes the events of ours."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._stores: dict[int, Store] = {}
        self._objects: dict[int, tuple[weakref.ref[Any], Cell]] = {}
        self.n_bytes = 0
        self.transforms = 0  # derivatives of `torch.func` that are being taken: no tensor below requires one

    def clear(self) -> None:
        self._stores.clear()
        self._objects.clear()
        self.n_bytes = 0

    def keep(self, ids: set[int]) -> None:
        """Forget all memory in which none of these values is."""
        self._stores = {
            key: store
            for key, store in self._stores.items()
            if any(cell.id in ids for cells in store.cells.values() for cell in cells)
        }
        self._objects = {key: known for key, known in self._objects.items() if known[1].id in ids}
        self.n_bytes = sum(store.held.nbytes() for store in self._stores.values())

    def read(self, tensor: Any, keeps_none: bool = False) -> Cell:
        """The value of a tensor that is about to be used, where `keeps_none` by an op that leaves no history."""
        cell, store = self._own(tensor), self._store(tensor)
        if cell is not None and (store is None or cell in self._present(store, tensor)):
            return self._as_used(tensor, cell, store)
        says = not self.transforms or tensor.requires_grad or (cell is not None and cell.origin is not None)
        found = None if store is None else self._equal(tensor, store, keeps_none or not says, says)
        if found is None:
            found = self._new(tensor, store)
            found.leaf = tensor if is_leaf(tensor) else None
            found.unseen = tensor.requires_grad and found.leaf is None
        self._know(tensor, found)
        return self._as_used(tensor, found, store)

    def made(self, tensor: Any, requires_grad: bool, origin: Cell | None = None) -> Cell:
        """A tensor that an op has just put out, in memory of its own or as a view."""
        cell = self._new(tensor, self._store(tensor))
        cell.requires_grad, cell.origin = requires_grad, origin
        self._know(tensor, cell)
        return cell

    def freeze(self, tensor: Any) -> None:
        """Keep the numbers in the memory of a tensor: it may change where nobody hears of it."""
        store = self._store(tensor)
        for cells in () if store is None else store.cells.values():
            for cell in cells:
                cell.freeze()

    def before_write(self, tensor: Any) -> Cover | None:
        """Keep what is about to be changed; returns the largest other view of it, with a tensor of its layout."""
        store = self._store(tensor)
        if store is None:
            return None
        cover = _cover(store, tensor)
        view = None if cover is None else cover.tensor
        for cells in store.cells.values():
            for cell in cells:
                cell.freeze()
        store.cells.clear()
        store.moment = Moment()
        return None if cover is None else (cover, view)

    def written(self, tensor: Any, requires_grad: bool, covered: Cover | None) -> Cell:
        """The value after a write; the rest of the memory around it is joined with what was written."""
        store = self._store(tensor)
        cell = self._new(tensor, store)
        cell.requires_grad, cell.leaf = requires_grad, tensor if is_leaf(tensor) else None
        self._know(tensor, cell)
        if covered is not None:
            cover, view = covered
            whole = self._new(view, store)
            whole.requires_grad = requires_grad or cover.requires_grad
            whole.leaf = cover.leaf
            if cover.leaf is None:
                self._emit(WRITE, (cover, cell), whole, {"places": places(tensor, view)})
        return cell

    def alias(self, tensor: Any, cell: Cell) -> None:
        """From now on this tensor of the user's is known to hold that value."""
        store = self._store(tensor)
        if store is not None:
            store.cells.setdefault(_layout(tensor), []).append(cell)
        self._know(tensor, cell)

    def standing(self, tensor: Any) -> Cell | None:
        """The value known to stand where this tensor does: its own, else the newest that is no detached copy of one."""
        there, own = self.candidates(tensor), self._own(tensor)
        if own is not None and own in there:
            return own
        return next((cell for cell in reversed(there) if cell.origin is None), there[-1] if there else None)

    def candidates(self, tensor: Any) -> list[Cell]:
        """The values known to stand where this tensor does, oldest first."""
        store = self._store(tensor)
        return [] if store is None else self._present(store, tensor)

    def _as_used(self, tensor: Any, cell: Cell, store: Store | None) -> Cell:
        """A leaf is where its history begins; what was detached and has one all the same is what it came from."""
        if not tensor.requires_grad or cell.leaf is tensor:
            return cell
        if is_leaf(tensor):
            before, cell = cell, self._new(tensor, store)
            cell.leaf, cell.requires_grad, cell.before = tensor, True, before
            self._know(tensor, cell)
        while cell.origin is not None:
            cell = cell.origin
        return cell

    def _equal(self, tensor: Any, store: Store, keeps_none: bool, says: bool) -> Cell | None:
        """A value known under another object: the same view of the same memory, or a part of one.

        `says` tells whether a tensor without `requires_grad` has been detached.
        """
        same = self._present(store, tensor)
        if is_leaf(tensor) and tensor.requires_grad:
            return next((cell for cell in same if cell.leaf is tensor), None)
        fitting = [cell for cell in same if cell.requires_grad == tensor.requires_grad]
        if fitting or (same and keeps_none):
            return (fitting or same)[-1]
        if same:
            return self._detached(tensor, same[-1], store) if not tensor.requires_grad else None
        cover = _cover(store, tensor, at_least=1)
        if cover is None or (tensor.requires_grad and not cover.requires_grad):
            return None
        cell = self._new(tensor, store)
        cell.requires_grad = cover.requires_grad
        self._emit(GATHER, (cover,), cell, {"places": places(tensor, cover.tensor)})
        keeps = tensor.requires_grad or not (says and cell.requires_grad)
        return cell if keeps else self._detached(tensor, cell, store)

    def _detached(self, tensor: Any, cell: Cell, store: Store) -> Cell:
        """`x.data` and its like: the numbers without their history."""
        made = self._new(tensor, store)
        made.requires_grad, made.origin = False, cell
        self._emit(DETACH, (cell,), made, {})
        return made

    def _present(self, store: Store, tensor: Any) -> list[Cell]:
        return store.cells.get(_layout(tensor), [])

    def _new(self, tensor: Any, store: Store | None) -> Cell:
        held = torch.ops.aten.detach.default(tensor)
        name = str(tensor.dtype).removeprefix("torch.")
        cell = Cell(next(_numbers), held, name, tuple(tensor.shape), tensor.requires_grad)
        if store is not None:
            cell.memory, cell.moment = store.held._cdata, store.moment
            store.cells.setdefault(_layout(tensor), []).append(cell)
        return cell

    def _own(self, tensor: Any) -> Cell | None:
        known = self._objects.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def _know(self, tensor: Any, cell: Cell) -> None:
        self._objects[id(tensor)] = weakref.ref(tensor), cell

    def _store(self, tensor: Any) -> Store | None:
        try:
            storage = tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):  # sparse tensors and their like have none
            return None
        store = self._stores.get(storage._cdata)
        if store is None:
            store = self._stores[storage._cdata] = Store(storage)
            self.n_bytes += storage.nbytes()
        return store


def is_leaf(tensor: Any) -> bool:
    """Whether gradients for it are collected in it.

    A view is asked only where that changes nothing: PyTorch renews its history if what it is a view of has one. Where
    that has none, as in `linspace(0, 1, 9).reshape(3, 3).requires_grad_()`, the view may well be a leaf.
    """
    if not tensor.requires_grad or (tensor._is_view() and tensor._base.requires_grad):
        return False
    return bool(tensor.is_leaf)


def _cover(store: Store, tensor: Any, at_least: int = 0) -> Cell | None:
    """The largest view of that memory which has all of the tensor's entries; None if it is the tensor itself."""
    own = _layout(tensor)
    known = [cells[-1] for layout, cells in store.cells.items() if layout != own and cells]
    known = [cell for cell in known if cell.tensor is not None and cell.tensor.dtype == tensor.dtype]
    known = [cell for cell in known if cell.tensor.numel() >= max(tensor.numel(), at_least)]
    known.sort(key=lambda cell: -cell.tensor.numel())
    return next((cell for cell in known if holds(cell.tensor, tensor)), None)


def _layout(tensor: Any) -> Layout:
    return (
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.dtype,
        tensor.is_conj(),
        tensor.is_neg(),
    )
