# SPDX-License-Identifier: Apache-2.0
"""Packages that gpufl works without, as far as it can."""

from __future__ import annotations

import importlib
from typing import Any


def optional(package: str, what: str, extra: str) -> Any:
    """The package, or an ImportError that says what needs it and which extra of gpufl brings it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise ImportError(
            f"{what} need the package {name}: pip install {name}, or install gpufl[{extra}]"
        ) from error
