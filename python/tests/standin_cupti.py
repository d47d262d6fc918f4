# SPDX-License-Identifier: Apache-2.0
"""Kernels without a GPU: tests/standin/cupti, as a program in Python launches them."""

import ctypes

import gpufl


class Launch(ctypes.Structure):
    """cupti_standin.hpp: Launch."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("device", ctypes.c_uint32),
        ("context", ctypes.c_uint32),
        ("stream", ctypes.c_uint32),
        ("grid_x", ctypes.c_int32),
        ("block_x", ctypes.c_int32),
        ("duration_ns", ctypes.c_uint64),
        ("graph_kernels", ctypes.c_uint32),
        ("graph_exec", ctypes.c_uint32),
        ("bad_node", ctypes.c_uint32),
        ("nodes_withheld", ctypes.c_uint32),
        ("by_driver", ctypes.c_bool),
        ("captured", ctypes.c_bool),
        ("result", ctypes.c_int),
        ("withheld", ctypes.c_bool),
        ("runs_on", ctypes.c_bool),
        ("bad_time", ctypes.c_int),
    ]


class Standin(ctypes.Structure):
    """The first members of cupti_standin.hpp: CuptiStandin."""

    _fields_ = [
        ("reset", ctypes.CFUNCTYPE(None, ctypes.c_uint32)),
        ("fail", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int)),
        ("launch", ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.POINTER(Launch))),
    ]


def launcher(path):
    """launch(name), for the library that GPUFL_CUPTI_LIBRARY names to gpufl. In a session."""
    library = ctypes.CDLL(str(path))
    library.cupti_standin.restype = ctypes.POINTER(Standin)
    standin = library.cupti_standin().contents
    # As CUDA's driver does where a program initialises it.
    ctypes.CDLL(gpufl._core.__file__).InitializeInjection()

    names = {}  # kept: records point to them until they are read

    def launch(name):
        kernel = Launch(names.setdefault(name, name.encode()), 0, 1, 7, 1, 32, 1000)
        return standin.launch(ctypes.byref(kernel))

    return launch
