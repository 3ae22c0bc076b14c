"""Where the entries of one view stand in another: the same answer by layout as by looking for every address."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gradproof.frontends.torch.record.places import addresses, holds, is_dense, places

DENSE = {
    "itself": lambda x: x,
    "transposed": lambda x: x.permute(2, 0, 1),
    "flat": lambda x: x.reshape(-1),
    "an axis of one": lambda x: x.reshape(4, 1, 30),
}
PARTS = {
    "all": lambda x: x,
    "turned": lambda x: x.transpose(0, 2),
    "rows": lambda x: x[1:3],
    "every second": lambda x: x[:, ::2, 1],
    "one": lambda x: x[2, 1, 3],
    "repeated": lambda x: x[1, :, :1].expand(5, 6),
    "none": lambda x: x[:0],
}
OVERLAPPING = torch.arange(8.0).as_strided((2, 2), (3, 0))  # as many entries as its span has, and not dense


@pytest.mark.parametrize("whole", DENSE)
@pytest.mark.parametrize("part", PARTS)
def test_entries_are_found_in_a_dense_view(whole: str, part: str) -> None:
    memory = torch.arange(7.0 + 4 * 5 * 6)[7:]
    base = memory.reshape(4, 5, 6)
    one, other = PARTS[part](base), DENSE[whole](base)
    assert is_dense(other)
    assert holds(other, one)
    found = places(one, other)
    assert found.shape == tuple(one.shape)
    assert np.array_equal(other.reshape(-1).numpy()[found], one.numpy())
    assert not holds(memory[:20], base)
    assert not holds(base[1:], base)


@pytest.mark.parametrize("view", [OVERLAPPING, torch.arange(9.0)[::2], torch.ones(1).expand(3)])
def test_other_layouts_are_looked_up_by_address(view: torch.Tensor) -> None:
    assert not is_dense(view)
    assert holds(view, view)
    assert np.array_equal(addresses(view).reshape(-1)[places(view, view)], addresses(view))
