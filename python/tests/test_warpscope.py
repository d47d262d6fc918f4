# SPDX-License-Identifier: Apache-2.0
"""Captures of warpscope in a session without a GPU: what is taken, refused, and read back."""

import array

import gpufl
import pytest
from conftest import events


def words() -> array.array:
    """One block, one group: event 1 from 1,000 to 3,000 ns, then the end of the lane."""
    records = [(1000, 1 << 2), (3000, 1 << 2 | 1), (4000, 3)]
    return array.array("Q", [1 | 1 << 32, *(time << 32 | tag for time, tag in records)])


def test_without_a_session_nothing_is_taken():
    assert gpufl.record_warpscope(words()) == "no_session"
    assert gpufl.WarpscopeCapture().record(words()) == "no_session"


def test_what_is_refused(recording):
    assert gpufl.record_warpscope(array.array("Q")) == "empty"
    with pytest.raises(TypeError):
        gpufl.record_warpscope(array.array("B", [1]))
    with pytest.raises(TypeError):
        gpufl.record_warpscope("words")
    too_many = array.array("Q", bytes(8 * (gpufl._core.MAX_WARPSCOPE_WORDS + 1)))
    assert gpufl.record_warpscope(too_many) == "too_large"


def test_spans_are_in_the_log(recording):
    capture = gpufl.WarpscopeCapture()
    status = capture.record(words(), event_names=["wait", "mma"], group_names={0: "all"})
    assert status == "recorded"
    assert gpufl.record_warpscope(words(), kernel_name="mine") == "recorded"
    gpufl.shutdown()
    launches = events(recording, "warp_launch")
    assert [launch["launch"] for launch in launches] == [1, 2]
    assert launches[0]["group_names"] == ["all"]
    assert launches[1]["kernel"] == "mine"
    spans = events(recording, "warp_span")
    # Of two launches at nearly the same time, either may begin first.
    assert {(span["launch"], span["event"], span["duration_ns"]) for span in spans} == {
        (1, "mma", 2000),
        (2, "event_1", 2000),
    }
    assert len(spans) == 2
