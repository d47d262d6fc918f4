# SPDX-License-Identifier: Apache-2.0
"""Deep windows from Python, over made-up GPUs."""

import time

import gpufl
import pytest
from conftest import events

CLOSED_BY = ["session", "duration", "launches", "api"]


@pytest.fixture
def armed(logs, monkeypatch):
    """A session that takes samples in deep windows only."""
    monkeypatch.setenv("GPUFL_BACKEND", "synthetic")
    assert gpufl.init(
        app_name="armed",
        log_path=logs,
        profiling_engine=gpufl.ProfilingEngine.PcSampling,
        deep_window_only=True,
    )
    return logs


def wait_until_closed():
    deadline = time.monotonic() + 60
    while gpufl.deep_window_active():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def windows(logs):
    gpufl.shutdown()
    return events(logs, "deep_window")


def test_one_opens_and_a_bound_closes_it(armed):
    opened = gpufl.deep_window(50, name="slow step")
    assert opened
    assert opened.opened
    assert gpufl.deep_window_active()
    assert not gpufl.deep_window(50), "one at a time"
    wait_until_closed()
    (window,) = windows(armed)
    assert CLOSED_BY[window["closed_by"]] == "duration"
    assert window["ignored"] == 1
    assert window["launches"] > 0


def test_its_block_closes_it(armed):
    with gpufl.deep_window(60_000) as window:
        assert window
        with gpufl.deep_window(10) as inner:
            assert not inner
        assert gpufl.deep_window_active(), "who opened none closes none"
    wait_until_closed()
    (row,) = windows(armed)
    assert CLOSED_BY[row["closed_by"]] == "api"


def test_it_may_be_closed_from_anywhere(armed):
    assert gpufl.deep_window()
    gpufl.deep_window_close()
    wait_until_closed()
    gpufl.deep_window_close()
    assert len(windows(armed)) == 1


def test_without_a_session_it_opens_none():
    assert not gpufl.deep_window(50)
    assert not gpufl.deep_window_active()
    gpufl.deep_window_close()
    with gpufl.deep_window(50) as window:
        assert not window


def test_its_arguments_are_checked():
    for wrong in ("500", None, 1.5):
        with pytest.raises(TypeError):
            gpufl.deep_window(wrong)
    with pytest.raises(TypeError):
        gpufl.deep_window(1, 2, 3)
