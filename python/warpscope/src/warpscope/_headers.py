# SPDX-License-Identifier: Apache-2.0
"""Where the C++ headers are."""

from __future__ import annotations

import pathlib

_DEVICE_HEADER = "warpscope.cuh"


def include_dir() -> str:
    """The folder for -I: inside the package, or of the source package or repository it is in."""
    here = pathlib.Path(__file__).resolve().parent
    for root in (here, *list(here.parents)[1:4:2]):
        if (root / "include" / _DEVICE_HEADER).is_file():
            return str(root / "include")
    raise FileNotFoundError(f"{_DEVICE_HEADER} is neither in {here} nor in the sources around it")


def device_header() -> str:
    """The path of warpscope.cuh."""
    return str(pathlib.Path(include_dir()) / _DEVICE_HEADER)
