# SPDX-License-Identifier: Apache-2.0
"""What a Profiler gives to the session of gpufl, with one that only remembers."""

import sys
import types

import numpy as np
import pytest

import warpscope


class Session(types.ModuleType):
    def __init__(self):
        super().__init__("gpufl")
        self.opened = 0
        self.given = []
        session = self

        class WarpscopeCapture:
            def __init__(self):
                session.opened += 1

            def record(self, words, **names):
                session.given.append((np.array(words), names))
                return "recorded"

        self.WarpscopeCapture = WarpscopeCapture
        self.record_warpscope = WarpscopeCapture.record


@pytest.fixture
def session(monkeypatch):
    module = Session()
    monkeypatch.setitem(sys.modules, "gpufl", module)
    return module


def profiler(**options):
    return warpscope.Profiler(1, 1, 8, device="cpu", **options)


def record(prof, time=1000):
    prof.array[:4] = [
        1 | 1 << 32,
        time << 32 | 4,
        (time + 500) << 32 | 5,
        (time + 600) << 32 | 3,
    ]


def test_each_capture_is_given_once(session):
    prof = profiler(kernel="gemm", event_names=["wait", "mma"])
    assert session.opened == 1
    record(prof)
    prof.decode(group_names=["all"])
    prof.decode()
    assert len(session.given) == 1
    words, names = session.given[0]
    assert len(words) == prof.num_slots, "the kernel knew of no side block"
    assert names["event_names"] == {0: "wait", 1: "mma"}
    assert names["group_names"] == {0: "all"}
    assert names["kernel_name"] == "gemm"
    prof.reset()
    assert session.opened == 2
    record(prof, 9000)
    prof.decode()
    assert len(session.given) == 2


def test_an_empty_buffer_is_not_given(session):
    with pytest.warns(warpscope.WarpscopeWarning):
        profiler().decode()
    assert session.given == []


def test_without_gpufl_nothing_happens(monkeypatch):
    monkeypatch.delitem(sys.modules, "gpufl", raising=False)
    prof = profiler()
    record(prof)
    assert len(prof.decode().spans) == 1
    assert "gpufl" not in sys.modules
