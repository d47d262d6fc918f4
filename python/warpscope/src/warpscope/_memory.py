# SPDX-License-Identifier: Apache-2.0
"""Memory for a capture: of the GPU through PyTorch or CuPy, or of the host through numpy. Each kind
has the memory as `words`, its address as `ptr`, and reads and writes it as numpy arrays."""

from __future__ import annotations

import importlib
from typing import Any, Optional, Protocol

import numpy as np


class Memory(Protocol):
    words: Any
    ptr: int

    def clear(self) -> None: ...

    def write(self, at: int, words: Any) -> None: ...

    def read(self) -> Any: ...


class HostMemory:
    def __init__(self, size: int) -> None:
        self.words = np.zeros(size, dtype=np.uint64)
        self.ptr = int(self.words.ctypes.data)

    def clear(self) -> None:
        self.words[:] = 0

    def write(self, at: int, words: Any) -> None:
        self.words[at : at + len(words)] = words

    def read(self) -> Any:
        return self.words.copy()


class TorchMemory:
    def __init__(self, torch: Any, size: int, device: Any) -> None:
        self._torch = torch
        self.words = torch.zeros(size, dtype=torch.int64, device=device)
        self.ptr = int(self.words.data_ptr())

    def clear(self) -> None:
        self.words.zero_()

    def write(self, at: int, words: Any) -> None:
        source = self._torch.from_numpy(words.view(np.int64))
        self.words[at : at + len(words)].copy_(source)

    def read(self) -> Any:
        return self.words.cpu().numpy().view(np.uint64)


class CupyMemory:
    def __init__(self, cupy: Any, size: int, device: Optional[int]) -> None:
        self._device = cupy.cuda.Device(device)
        with self._device:
            self.words = cupy.zeros(size, dtype=np.uint64)
        self.ptr = int(self.words.data.ptr)

    def clear(self) -> None:
        with self._device:
            self.words.fill(0)

    def write(self, at: int, words: Any) -> None:
        with self._device:
            self.words[at : at + len(words)].set(words)

    def read(self) -> Any:
        with self._device:
            return self.words.get()


def allocate(size: int, device: Any, library: Optional[str]) -> Memory:
    """On "cpu", or on "cuda" or "cuda:1" by `library`, "torch" or "cupy"; None: whichever is there,
    PyTorch first. ImportError when none is."""
    if library not in (None, "torch", "cupy", "numpy"):
        raise ValueError(f'library {library!r} is not one of "torch", "cupy", "numpy"')
    name = str(device)
    if name == "cpu" or library == "numpy":
        if name != "cpu" or library in ("torch", "cupy"):
            raise ValueError(f"memory of {name} is not of library {library!r}")
        return HostMemory(size)
    if library != "cupy":
        torch = _imported("torch", is_needed=library == "torch")
        if torch is not None:
            return TorchMemory(torch, size, device)
    cupy = _imported("cupy", is_needed=library == "cupy")
    if cupy is not None:
        kind, _, number = name.partition(":")
        if kind != "cuda" or (number and not number.isdigit()):
            raise ValueError(f'CuPy has no device {name!r}: it is "cuda" or "cuda:0"')
        return CupyMemory(cupy, size, int(number) if number else None)
    raise ImportError(f'memory of {name} needs PyTorch or CuPy; device="cpu" needs neither')


def _imported(name: str, is_needed: bool) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        if is_needed:
            raise
        return None
