# SPDX-License-Identifier: Apache-2.0
"""Captures in files."""

from __future__ import annotations

import errno
import os
from typing import Any, Union

import numpy as np

from ._decode import decode, warn_of_losses
from ._problems import Problems
from ._result import TraceResult
from ._side import MAGIC
from ._words import split, to_words

Path = Union[str, os.PathLike[str]]

MAX_DUMP_BYTES = 4 << 30  # the largest file that is read


def save(buffer: Any, path: Path) -> Path:
    """Writes a capture, or a v1 region alone, as decode() takes it. A capture with a side block
    gets the two words behind it that lead a reader there. Returns the path."""
    words, _ = to_words(buffer)
    side = split(words, Problems()).side
    with open(path, "wb") as file:
        file.write(words.astype("<u8", copy=False).tobytes())
        if side is not None and int(words[-1]) != MAGIC:
            file.write(np.array([side.side_words, MAGIC], dtype="<u8").tobytes())
    return path


def load(path: Path, **options: Any) -> TraceResult:
    """Decodes a file of words; options are those of decode(). OSError when it cannot be read,
    or is larger than 4 GiB."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > MAX_DUMP_BYTES:
            raise OSError(errno.EFBIG, "larger than 4 GiB, the most that is read", os.fspath(path))
        content = file.read()
    warn = options.pop("warn", True)
    result = decode(content, warn=False, **options)
    if warn:
        warn_of_losses(result, stacklevel=3)
    return result
