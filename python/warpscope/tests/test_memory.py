# SPDX-License-Identifier: Apache-2.0
"""Buffers of PyTorch and CuPy, each by a stand-in with as much of it as is used."""

import sys
import types

import fake_kernel
import numpy as np
import pytest

import warpscope as ws


class Tensor:
    """As much of torch.Tensor as a buffer needs."""

    def __init__(self, array, device):
        self.array_, self.device = array, device

    def data_ptr(self):
        return self.array_.ctypes.data

    def zero_(self):
        self.array_[:] = 0

    def __getitem__(self, key):
        return Tensor(self.array_[key], self.device)

    def copy_(self, other):
        assert other.array_.dtype == self.array_.dtype == np.int64
        self.array_[:] = other.array_

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.array_.copy(), "cpu")

    def numpy(self):
        assert self.device == "cpu", "memory of a GPU is not numpy's"
        return self.array_


class CupyArray:
    def __init__(self, array):
        self.array_ = array
        self.dtype = array.dtype
        self.data = types.SimpleNamespace(ptr=array.ctypes.data)

    def fill(self, value):
        self.array_[:] = value

    def __getitem__(self, key):
        return CupyArray(self.array_[key])

    def set(self, other):
        self.array_[:] = other

    def get(self):
        return self.array_.copy()


@pytest.fixture
def torch(monkeypatch):
    def zeros(size, dtype, device):
        return Tensor(np.zeros(size, dtype=dtype), str(device))

    fake = types.SimpleNamespace(
        zeros=zeros, int64=np.int64, from_numpy=lambda array: Tensor(array, "cpu")
    )
    monkeypatch.setitem(sys.modules, "torch", fake)
    return fake


@pytest.fixture
def cupy(monkeypatch):
    devices = []

    class Device:
        def __init__(self, number):
            self.number = number

        def __enter__(self):
            devices.append(self.number)

        def __exit__(self, *_):
            pass

    fake = types.SimpleNamespace(
        zeros=lambda size, dtype: CupyArray(np.zeros(size, dtype=dtype)),
        cuda=types.SimpleNamespace(Device=Device),
        devices=devices,
    )
    monkeypatch.setitem(sys.modules, "cupy", fake)
    return fake


def check(prof):
    fake_kernel.toy(prof.capture, 2)
    result = prof.decode()
    assert len(result.spans) == 32 and result.problems == []
    assert ws.decode(prof.words()).spans == result.spans
    prof.reset()
    assert not prof.numpy().any()
    fake_kernel.toy(prof.capture, 2)
    assert prof.decode().spans == result.spans


def test_torch(torch):
    prof = ws.Profiler(2, 2)
    assert prof.tensor.device == "cuda" and prof.array is None
    check(prof)
    region = ws.decode(prof.tensor)
    assert [span.dur_ns for span in region.spans] == [span.dur_ns for span in prof.decode().spans]


def test_cupy(cupy, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    prof = ws.Profiler(2, 2, device="cuda:1")
    assert prof.tensor is None and set(cupy.devices) == {1}
    check(prof)
    assert len(ws.decode(prof.array).spans) == 32


def test_the_library_can_be_chosen(torch, cupy):
    assert ws.Profiler(1, 1, library="cupy").tensor is None
    assert ws.Profiler(1, 1, library="torch").tensor is not None
    with pytest.raises(ValueError, match="device"):
        ws.Profiler(1, 1, device="cuda:x", library="cupy")


def test_without_any_library_it_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match='device="cpu"'):
        ws.Profiler(1, 1)
    with pytest.raises(ImportError):
        ws.Profiler(1, 1, library="torch")
