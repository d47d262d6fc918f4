# SPDX-License-Identifier: Apache-2.0
"""GPUFlight inside this Python process, for benchmarks and device tests: sessions, scopes, bare CUPTI
and the report of a benchmark, by libgpufl_torch_session.so of the portable build."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PORTABLE_BUILD", ROOT / "build" / "portable"))
LIBRARY = BUILD / "lib" / "libgpufl_torch_session.so"
INJECTION = BUILD / "lib" / "libgpufl_inject.so"
GPUFL = BUILD / "bin" / "gpufl"
# The Python package, for the Pythons that `./dev gpu-test --build` made it for.
PACKAGES = BUILD / "lib" / "site-packages"


def cannot_run(why):
    """Ends the program the way every benchmark and device test does where it cannot tell."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    sys.exit(2)


def require_torch_gpu():
    """torch, on a machine where it sees a GPU."""
    try:
        import torch
    except ImportError as error:
        cannot_run(f"no PyTorch here: {error}")
    if not torch.cuda.is_available():
        cannot_run("PyTorch sees no GPU here")
    return torch


class Figures(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "kernels",
            "at_user_line",
            "at_inherited_line",
            "raw_bytes",
            "sealed_bytes",
            "launches_seen",
            "kernel_records",
            "vendor_dropped",
            "impossible_times",
        )
    ] + [("is_exact", ctypes.c_uint32)]


def load():
    if not LIBRARY.is_file():
        cannot_run(f"no {LIBRARY}: './dev gpu-test --build' makes it")
    library = ctypes.CDLL(str(LIBRARY))
    text, number, handle = ctypes.c_char_p, ctypes.c_double, ctypes.c_void_p
    for name, result, arguments in (
        ("torch_session_start", text, [text, ctypes.c_bool]),
        ("torch_session_stop", None, []),
        ("torch_scope_begin", handle, [text]),
        ("torch_scope_end", None, [handle]),
        ("torch_bare_start", text, []),
        ("torch_bare_stop", None, []),
        ("torch_session_figures", text, [text, text, ctypes.POINTER(Figures)]),
        ("torch_report_begin", handle, [text, text]),
        ("torch_report_note", None, [handle, text, text]),
        ("torch_report_value", None, [handle, text, number, text, text, number]),
        (
            "torch_report_ratio",
            None,
            [handle, text, ctypes.POINTER(number), ctypes.c_size_t, text, number],
        ),
        ("torch_report_finish", ctypes.c_int, [handle]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = None


def library():
    global _library
    if _library is None:
        _library = load()
    return _library


def _must(error):
    if error is not None:
        cannot_run(error.decode())


class Session:
    """A Trace session while the `with` lasts, in a folder of its own."""

    def __init__(self, logs, stacks=False):
        self.logs, self.stacks = str(logs), stacks

    def __enter__(self):
        _must(library().torch_session_start(self.logs.encode(), self.stacks))
        return self

    def __exit__(self, *_):
        library().torch_session_stop()


class Bare:
    """Bare CUPTI, as Trace uses it, while the `with` lasts."""

    def __enter__(self):
        _must(library().torch_bare_start())
        return self

    def __exit__(self, *_):
        library().torch_bare_stop()


class Scope:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.handle = library().torch_scope_begin(self.name.encode())
        return self

    def __exit__(self, *_):
        library().torch_scope_end(self.handle)


def read_figures(logs, user_file=""):
    """(figures, error) of the one session in `logs`; error is None when its ledger is exact."""
    figures = Figures()
    error = library().torch_session_figures(
        str(logs).encode(), user_file.encode(), ctypes.byref(figures)
    )
    return figures, error.decode() if error is not None else None


def rows_of(session, kind):
    """Of one kind, as `gpufl cat` prints them."""
    command = [str(GPUFL), "cat", str(session), kind]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        cannot_run(f"{command}: {ended.stderr[-500:]}")
    return [json.loads(line) for line in ended.stdout.splitlines()]


class Report:
    """bench/report.hpp. A bar is ("<=", 1.1), (">=", 99) or nothing."""

    def __init__(self, name, json_path):
        path = json_path.encode() if json_path else None
        self.handle = library().torch_report_begin(name.encode(), path)

    def note(self, key, value):
        library().torch_report_note(self.handle, key.encode(), str(value).encode())

    def value(self, figure, value, unit, bar=("", 0)):
        library().torch_report_value(
            self.handle, figure.encode(), value, unit.encode(), bar[0].encode(), bar[1]
        )

    def ratio(self, figure, ratios, bar=("", 0)):
        array = (ctypes.c_double * len(ratios))(*ratios)
        library().torch_report_ratio(
            self.handle, figure.encode(), array, len(ratios), bar[0].encode(), bar[1]
        )

    def finish(self):
        return library().torch_report_finish(self.handle)
