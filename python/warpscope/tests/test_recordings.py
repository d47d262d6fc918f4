# SPDX-License-Identifier: Apache-2.0
"""What GPUs wrote: the same files, and the same answers, as those of the C++ decoder."""

import collections
import gzip
import pathlib

import numpy as np
import pytest

import warpscope as ws

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "tests" / "warpscope" / "recordings"
ENDING = ".wscap.gz"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="not in the repository")


def names():
    return sorted(path.name[: -len(ENDING)] for path in FOLDER.glob(f"*{ENDING}"))


def summed_up(result):
    rows = collections.defaultdict(lambda: [0] * 6)
    for span in result.spans:
        sums = rows[span.block, span.group, span.event_id]
        parts = (1, span.begin_ns, span.dur_ns, span.payload, span.end_payload, span.token)
        for i, part in enumerate(parts):
            sums[i] += part or 0
    origin = "-" if result.origin_ns is None else result.origin_ns
    yield f"blocks {result.num_blocks} groups {result.num_groups} origin_ns {origin}"
    for lane_event, sums in sorted(rows.items()):
        yield " ".join(map(str, (*lane_event, *sums)))


@pytest.mark.parametrize("name", names())
def test_recording(name):
    words = np.frombuffer(gzip.decompress((FOLDER / f"{name}{ENDING}").read_bytes()), np.uint64)
    result = ws.decode(words)
    assert not result.problems
    assert not result.unmatched
    assert not result.instants
    assert list(summed_up(result)) == (FOLDER / f"{name}.txt").read_text().splitlines()


def test_there_are_recordings():
    assert len(names()) > 4
