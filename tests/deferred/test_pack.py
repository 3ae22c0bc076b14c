"""What is written down comes back as it was, and what was not written so is refused."""

from __future__ import annotations

import contextlib
import copy
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gradproof.deferred.classes import TABLE, ClassTable
from gradproof.deferred.folder import SMALL, ProcessFolder, read, write
from gradproof.deferred.keeping import rank_of
from gradproof.deferred.model import KeptCall, Text
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.derive import derive
from gradproof.engine.run import run
from gradproof.errors import GradproofError, NotData, UnreadableCapture
from gradproof.ir.block import HEAD, MAGIC
from gradproof.ir.capture import Capture, Source
from gradproof.ir.check_sum import PAGE
from gradproof.ir.pack import pack, unpack
from gradproof.ir.program import Builder, Node, Program
from gradproof.ir.span import Span
from gradproof.ir.text import render

from ..random_programs import random_program


def _block(value: object) -> bytes:
    return b"".join(pack(value, TABLE))


def _again(value: object) -> object:
    return unpack(_block(value), TABLE)


def _capture(value: float = 1.0) -> Capture:
    builder = Builder()
    x = builder.input(np.array([value, 2.0]), "x")
    y = builder.add("exp", x, value=np.exp([value, 2.0]))
    total = builder.add("sum", y, params={"axes": (0,)}, value=np.exp([value, 2.0]).sum())
    source = Source("x", (2,), "float64", x, np.exp([value, 2.0]))
    return Capture("numpy", Span("train.py", 3, 4), "loss", (source,), builder.build([total]))


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -0.0, float("inf"), "ü\n", b"\x00\xff", (), (1, (2, None)), [1, "a"], {"a": (1,), 2: []}, 1 + 2j,
     frozenset({(1, 2)}), np.int64(5), np.float32(0.1)],
)  # fmt: skip
def test_plain_values_come_back_as_they_were(value: object) -> None:
    again = _again(value)
    assert (again, type(again)) == (value, type(value))


def test_arrays_come_back_bit_for_bit_and_in_their_order_in_memory() -> None:
    import ml_dtypes

    for array in (
        np.array([np.nan, -0.0, 5e-324]),
        np.arange(6, dtype=np.float32).reshape(2, 3).T,
        np.array(1.5, dtype=np.float16),
        np.zeros((0, 3), dtype=np.int8),
        np.ones(3, dtype=ml_dtypes.bfloat16),
        np.arange(10)[::2],
        np.broadcast_to(np.array([1.0, 2.0]), (3, 2)),
    ):
        again = _again(array)
        assert isinstance(again, np.ndarray)
        assert (again.tobytes(), again.shape, again.dtype) == (array.tobytes(), array.shape, array.dtype)
        assert again.flags.f_contiguous == array.flags.f_contiguous or not array.flags.forc


def test_what_is_one_object_stays_one_and_is_written_once() -> None:
    array = np.arange(1000.0)
    node = Node(1, "input", (), "float64", (1000,), value=array)
    first, second, third = _again((node, node, array))  # type: ignore[misc]
    assert first is second
    assert first.value is third
    assert len(_block((node, node, array))) < 1.2 * array.nbytes


def test_the_same_numbers_are_written_once() -> None:
    array = np.arange(10_000.0).reshape(100, 100)
    again = _again((array, array.copy(), array.T, array.T.copy()))
    assert isinstance(again, tuple)
    for one, other in zip(again, (array, array, array.T, array.T), strict=True):
        assert np.array_equal(one, other)
    assert len(_block((array, array.copy(), array.T))) < 1.1 * array.nbytes
    changed = array.copy()
    changed[50, 50] += 1.0
    assert np.array_equal(_again((array, changed))[1], changed)  # type: ignore[index]


def test_what_is_no_data_is_refused_by_its_type() -> None:
    with pytest.raises(NotData, match="function"):
        _block((1, lambda: 1))
    with pytest.raises(NotData, match="dtype object"):
        _block(np.array([object()]))


def test_what_could_not_be_read_again_is_not_written() -> None:
    with pytest.raises(NotData, match=r"`Span\.line` holds a str"):
        _block(Span("train.py", "3"))  # type: ignore[arg-type]


def test_no_prefix_and_no_single_changed_byte_is_taken_for_the_whole() -> None:
    generator = np.random.default_rng(0)
    block = _block((KeptCall((_capture(),)), generator.normal(size=3_000)))
    for length in range(0, len(block), 97):
        with pytest.raises(UnreadableCapture):
            unpack(block[:length], TABLE)
    for place in generator.integers(0, len(block), 300):
        changed = bytearray(block)
        changed[place] ^= 1 << int(generator.integers(8))
        with pytest.raises(UnreadableCapture):
            unpack(bytes(changed), TABLE)


def test_numbers_that_were_zeroed_or_have_changed_places_are_not_taken_for_others() -> None:
    pages = np.random.default_rng(0).normal(size=(4, PAGE // 8))
    block = _block(pages)
    swapped = pages[[1, 0, 2, 3]]
    zeroed = pages * np.array([[1.0], [1.0], [0.0], [1.0]])
    for other in (swapped, zeroed):
        changed = block.replace(pages.tobytes(), other.tobytes())
        assert changed != block
        with pytest.raises(UnreadableCapture, match="check sum"):
            unpack(changed, TABLE)


def _forged(change: object) -> bytes:
    """A block whose check sums are right, with something else in it."""
    parts = pack(KeptCall((_capture(),)), TABLE)
    header = json.loads(bytes(parts[1]))
    change(header)  # type: ignore[operator]
    return _sealed(header, b"".join(parts[2:]))


def _sealed(header: object, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return HEAD.pack(MAGIC, len(text), len(data), zlib.crc32(text)) + text + data


def _of(header: dict[str, list[list[object]]], name: str) -> list[object]:
    return next(record for record in header["records"] if record[0] == name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h: h["records"].append(["os.system", "true"]), "os.system"),
        (
            lambda h: h["classes"].update({"Popen": ["args"]}),
            "another version of gradproof, which has another `Popen`",
        ),
        (lambda h: h["classes"]["Node"].append("new"), "another `Node`"),
        (lambda h: _of(h, "Node").__setitem__(1, "1"), "`Node.id` holds a str"),
        (lambda h: _of(h, "Node").__setitem__(3, {"r": 0}), "`Node.inputs`"),
        (lambda h: _of(h, "Capture").pop(), "fields"),
        (lambda h: _of(h, "Capture").__setitem__(4, [{"r": 10**6}]), "IndexError"),
        (lambda h: _of(h, "Capture").__setitem__(4, [{"r": -1}]), "no place"),
        (lambda h: h["arrays"][0].__setitem__(0, "object"), "no dtype"),
        (lambda h: h["arrays"][0].__setitem__(1, [10**12]), "beyond the end"),
        (lambda h: h["arrays"][0].__setitem__(3, -64), "no place"),
        (lambda h: h.__delitem__("root"), "root"),
    ],
)
def test_a_forged_file_is_refused_and_runs_nothing(change: object, said: str) -> None:
    with pytest.raises(UnreadableCapture, match=said):
        unpack(_forged(change), TABLE)


def _damaged() -> Iterator[bytes]:
    """A program with every field of every record taken away or spoilt, one at a time."""
    parts = pack(_capture().program, TABLE)
    header, data = json.loads(bytes(parts[1])), b"".join(parts[2:])
    for key in header:
        yield _sealed({name: value for name, value in header.items() if name != key}, data)
        for damage in (None, 3, "x", [{"a": 1}]):
            yield _sealed({**header, key: damage}, data)
    for table in ("records", "arrays"):
        for row, record in enumerate(header[table]):
            for place in range(len(record)):
                for damage in (None, "x", -1, [[]], {"r": 0}, {"a": 0}):
                    broken = copy.deepcopy(header)
                    broken[table][row][place] = damage
                    yield _sealed(broken, data)


def test_damaged_programs_are_refused_or_can_be_run_but_never_crash() -> None:
    refused = 0
    for block in _damaged():
        try:
            program = unpack(block, TABLE)
        except UnreadableCapture:
            refused += 1
            continue
        if not isinstance(program, Program):
            continue
        with contextlib.suppress(GradproofError):
            run(BallDomain64(), program)
    assert refused > 50


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_and_their_gradients_come_back_as_they_were(seed: int) -> None:
    for program in (random_program(seed), derive(random_program(seed)).program):
        again = _again(program)
        assert isinstance(again, Program)
        assert render(again) == render(program)
        for one, other in zip(again.nodes, program.nodes, strict=True):
            parts = zip(*(v if isinstance(v, tuple) else (v,) for v in (one.value, other.value)), strict=True)
            assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in parts)


def test_places_scopes_phases_and_complex_parameters_survive() -> None:
    builder = Builder()
    x = builder.input(np.array([np.nan, -0.0, 5e-324]), "x", Span("model.py", 3, 4, 3, 9, "loss"))
    y = builder.add("exp", x, value=np.ones(3), params={"k": (1, 2j, None, "a")}, phase="backward", scope=2)
    program = builder.build([y])
    again = _again(program)
    assert isinstance(again, Program)
    assert again[x].span == program[x].span
    assert (again[y].phase, again[y].scope, again[y].params) == ("backward", 2, {"k": (1, 2j, None, "a")})
    assert again.names == {x: "x"}


def test_an_ill_formed_program_is_refused() -> None:
    def unbound(header: dict[str, list[list[object]]]) -> None:
        next(one for one in header["records"] if one[:3] == ["Node", 1, "exp"])[3] = [7]

    with pytest.raises(UnreadableCapture, match="id 7, which is not bound"):
        unpack(_forged(unbound), TABLE)


def test_another_version_of_the_format_is_named() -> None:
    block = bytearray(_block(Text("a", "b")))
    block[7] += 1
    with pytest.raises(UnreadableCapture, match="another version of the format"):
        unpack(bytes(block), TABLE)
    with pytest.raises(UnreadableCapture, match="not written by gradproof"):
        unpack(b"PK\x03\x04" * 20, TABLE)


def test_a_file_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    write(Text("a", "b"), path)
    with pytest.raises(UnreadableCapture, match="holds a Text, where a KeptCall"):
        read(path, KeptCall)


def test_large_arrays_are_mapped_and_not_copied(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    capture = _capture()
    large = np.zeros(SMALL)
    write(
        KeptCall(
            (Capture("numpy", capture.call, "loss", (Source("x", large.shape, "float64", 0, large),), None),)
        ),
        path,
    )
    (again,) = read(path, KeptCall).captures
    assert again.sources[0].observed is not None
    assert not again.sources[0].observed.flags.owndata
    assert not again.sources[0].observed.flags.writeable


def test_every_file_that_a_place_is_in_is_told() -> None:
    seen: list[str] = []
    pack(_capture(), ClassTable(seen.append))
    assert seen == ["train.py"]


def test_the_rank_is_what_a_launcher_says() -> None:
    assert rank_of({}) is None
    assert rank_of({"RANK": "3", "SLURM_PROCID": "5"}) == 3
    assert rank_of({"RANK": "", "OMPI_COMM_WORLD_RANK": "1"}) == 1


def test_a_part_lists_calls_only(tmp_path: Path) -> None:
    for name in ("00000002.gradproof", "00000001.gradproof", ".00000003.gradproof.ab.tmp", "ended.gradproof"):
        (tmp_path / name).write_bytes(b"")
    assert ProcessFolder(str(tmp_path)).calls() == ["00000001", "00000002"]
