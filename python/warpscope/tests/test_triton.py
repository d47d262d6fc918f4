# SPDX-License-Identifier: Apache-2.0
"""Marks in Triton kernels, on Triton's own interpreter. That one knows no inline PTX: the few
instructions of ours are played here, one thread at a time, on the memory of a Profiler."""

import ctypes
import itertools
import os
import re
import types

import numpy as np
import pytest

os.environ["TRITON_INTERPRET"] = "1"  # read when a kernel is defined
pytest.importorskip("triton")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.runtime import interpreter  # noqa: E402

import warpscope as ws  # noqa: E402
import warpscope.triton as wst  # noqa: E402

# Of Triton's interpreter, with newer versions of numpy.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

THREADS = 64
TICK_NS = 32
WIDE = 0x1_0000_0000


class Ptx:
    """One thread that runs one text."""

    def __init__(self, operands, specials):
        self.registers = dict(operands)
        self.specials = specials
        self.stores = []

    def value(self, text):
        text = text.strip()
        if text.startswith("%"):
            return self.specials[text]
        return self.registers[text] if text in self.registers else int(text, 0)

    def run(self, text):
        for line in text.strip().strip("{}").split(";"):
            found = re.fullmatch(r"(?:@(\w+) )?([\w.]+) ?(.*)", line.strip(), re.DOTALL)
            if not found or found[2].startswith(".reg") or found[2] == "membar.cta":
                continue
            if found[1] is None or self.registers[found[1]]:
                self.step(found[2].split("."), found[3])

    def step(self, name, rest):
        if name[0] == "st":
            address, values = re.fullmatch(r"\[(.*)\], \{?(.*?)\}?", rest).groups()
            at = sum(self.value(part) for part in address.split("+"))
            size = int(name[-1][1:]) // 8
            for i, part in enumerate(values.split(",")):
                self.stores.append((at + i * size, size, self.value(part)))
            return
        to, *parts = rest.split(",")
        a, b, c = (*map(self.value, parts), 0, 0)[:3]
        bits = (1 << int(re.sub(r"\D", "", name[-1] if name[0] != "cvt" else name[1]))) - 1
        self.registers[to] = {
            "mov": lambda: a,
            "cvt": lambda: a,
            "add": lambda: a + b,
            "sub": lambda: a - b,
            "min": lambda: min(a & bits, b & bits),
            "shl": lambda: a << b,
            "or": lambda: a | b,
            "setp": lambda: self.compare(name, a & bits, b & bits, c if "and" in name else True),
        }[name[0]]()
        if name[0] != "setp":
            self.registers[to] &= bits

    @staticmethod
    def compare(name, a, b, other):
        return {"eq": a == b, "ne": a != b, "lt": a < b}[name[1]] and bool(other)


@pytest.fixture
def gpu(monkeypatch):
    """Plays PTX where Triton's interpreter meets it, with a timer that ticks at each mark."""
    ticks = itertools.count(5 * WIDE - 2 * TICK_NS, TICK_NS)
    writers = set()

    def play(_self, text, constraints, values, _dtype, is_pure, pack):
        assert not is_pure and pack == 1 and "~{memory}" in constraints
        kinds = constraints.split(",")
        given = [int(value.data.item()) for value in values]
        assert len(kinds) == len(given) + 2
        for kind, value in zip(kinds[1:], values):
            assert {"r": 4, "l": 8}[kind] == value.data.dtype.itemsize, (kind, value)
        timer, result = next(ticks), None
        for thread in range(THREADS):
            specials = {
                "%tid.x": thread, "%smid": 7, "%warpid": thread // 32,
                "%globaltimer": timer, "%globaltimer_lo": timer % WIDE, "%clock64": 2 * timer,
            }  # fmt: skip
            operands = {f"${i + 1}": value for i, value in enumerate(given)}
            ptx = Ptx(operands, specials)
            ptx.run(text)
            for at, size, value in ptx.stores:
                writers.add(thread)
                ctypes.memmove(at, (value % (1 << 8 * size)).to_bytes(size, "little"), size)
            assert result in (None, ptx.registers["$0"])
            result = ptx.registers["$0"]
        handle = interpreter.TensorHandle(np.array([result], dtype=np.int32), tl.int32)
        return types.SimpleNamespace(get_result=lambda _: handle)

    monkeypatch.setattr(interpreter.InterpreterBuilder, "create_inline_asm", play)
    return types.SimpleNamespace(writers=writers)


@triton.jit
def pipeline(capture, rounds, LEADER: tl.constexpr):
    lane = wst.init(capture, leader=LEADER)
    for i in range(rounds):
        lane = wst.start(lane, 3, i)
        lane = wst.inst(lane, 1000)
        lane = wst.end(lane, 3)
    wst.finalize(lane)


def launch(prof, grid, rounds=3, leader=0):
    pipeline[grid](wst.capture(prof), rounds, leader)
    return prof.decode()


def host_profiler(num_blocks, records=16, **options):
    return ws.Profiler(num_blocks, 1, records, device="cpu", **options)


@pytest.mark.parametrize("placement", ["strided", "lanes"])
def test_every_record_comes_back(gpu, placement):
    prof = host_profiler(
        6, payloads=True, placement=placement, event_names={3: "work", 1000: "mark"}
    )
    result = launch(prof, (3, 2))
    assert result.problems == [] and len(result.spans) == 18 and len(result.instants) == 18
    assert [span.payload for span in result.spans if span.block == 4] == [0, 1, 2]
    assert {span.dur_ns for span in result.spans} == {2 * TICK_NS}
    lanes = result.lanes_array()
    assert lanes["block"].tolist() == list(range(6)) and set(lanes["sm"]) == {7}
    assert lanes["finalised"].all() and (lanes["offered"] == 9).all()
    assert result.origin_ns is not None and result.origin_ns >= 5 * WIDE - 2 * TICK_NS
    assert gpu.writers == {0}


def test_a_region_of_v1_alone(gpu):
    result = launch(host_profiler(2, side=False), (2,))
    assert result.problems == [] and len(result.spans) == 6


def test_the_leader_of_another_group(gpu):
    launch(host_profiler(1), (1,), leader=32)
    assert gpu.writers == {32}


def test_nothing_is_written_behind_a_full_lane(gpu):
    with pytest.warns(ws.WarpscopeWarning):
        result = launch(host_profiler(2, records=5, payloads=True), (2,))
    assert {problem.kind: problem.count for problem in result.problems}["dropped"] == 10
    assert (result.lanes_array()["records"] == 4).all()


def test_a_window_of_blocks(gpu):
    result = launch(host_profiler(8, blocks=range(1, 7, 3)), (8,))
    assert {span.block for span in result.spans} == {1, 4} and result.problems == []


def test_blocks_that_the_buffer_does_not_know(gpu):
    assert {span.block for span in launch(host_profiler(2), (5,)).spans} == {0, 1}


def test_a_kernel_without_marks(gpu):
    pipeline[(2,)](wst.capture(None), 3, 0)
    assert gpu.writers == set()


@pytest.mark.parametrize("options", [{"policy": "last"}, {"tiles": range(3)}])
def test_what_the_marks_do_not_know(options):
    with pytest.raises(ValueError, match="Triton"):
        wst.capture(host_profiler(1, **options))
