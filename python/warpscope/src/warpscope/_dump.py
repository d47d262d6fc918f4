# SPDX-License-Identifier: Apache-2.0
"""Captures in files."""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, BinaryIO, Optional, Union

import numpy as np

from ._decode import decode, warn_of_losses
from ._problems import Problems
from ._result import TraceResult
from ._side import MAGIC
from ._words import split, to_words

Path = Union[str, os.PathLike[str]]

MAX_DUMP_BYTES = 4 << 30  # the largest file that is read
_PART_BYTES = 64 << 20


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


def _read(file: BinaryIO) -> Optional[bytes]:
    """None: a pipe that never ends."""
    parts, size = [], 0
    while part := file.read(_PART_BYTES):
        parts.append(part)
        size += len(part)
        if size > MAX_DUMP_BYTES:
            return None
    return b"".join(parts)


def load(path: Path, **options: Any) -> TraceResult:
    """Decodes a file of words; options are those of decode(). OSError when it cannot be read,
    or is larger than 4 GiB."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
            raise OSError(errno.EINVAL, "a device, not a file of words", os.fspath(path))
        content = _read(file) if status.st_size <= MAX_DUMP_BYTES else None
        if content is None:
            raise OSError(errno.EFBIG, "larger than 4 GiB, the most that is read", os.fspath(path))
    warn = options.pop("warn", True)
    result = decode(content, warn=False, **options)
    if warn:
        warn_of_losses(result, stacklevel=3)
    return result
