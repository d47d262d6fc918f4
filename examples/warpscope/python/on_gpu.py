# SPDX-License-Identifier: Apache-2.0
"""What the examples need, or one sentence and the exit code 2."""

import ctypes
import importlib
import pathlib
import sys

INSTALLS = {"cupy": "cupy-cuda13x", "warpscope": "./python/warpscope"}  # where a package has another name than its module


def cannot_run(why):
    print(f"{pathlib.Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    sys.exit(2)


def require(*modules):
    """These can be imported, and there is a GPU."""
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            cannot_run(f"{error}: pip install {INSTALLS.get(name, name)}")
    count = ctypes.c_int(0)
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        cannot_run(f"no driver of NVIDIA here: {error}")
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or not count.value:
        cannot_run("the driver sees no GPU")
