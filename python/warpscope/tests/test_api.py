# SPDX-License-Identifier: Apache-2.0
"""The names that programs for wire format v1 use, and what they mean."""

import ctypes
import json

import fake_kernel
import numpy as np
import pytest

import warpscope as ws

EVENTS = {0: "wait", 1: "work"}
GROUPS = {0: "producer", 1: "consumer"}


def launch(prof, num_blocks=2):
    """A kernel that knows the v1 region alone, given the pointer and the figures by hand."""
    capture = fake_kernel.V1Capture(
        prof.ptr, prof.write_stride, prof.num_groups, num_blocks, prof.max_records_per_lane
    )
    fake_kernel.toy(capture, num_blocks)


def test_a_program_for_the_v1_region(tmp_path, capsys):
    prof = ws.Profiler(num_blocks=2, num_groups=2, max_records_per_lane=64, device="cpu")
    launch(prof)
    result = prof.decode(event_names=EVENTS, group_names=GROUPS)
    assert (result.num_blocks, result.num_groups) == (2, 2)
    assert len(result.spans) == 2 * 2 * 8
    assert result.spans[0] == ws.Span(0, 0, 0, begin_ns=0, dur_ns=96)
    assert result.problems == []
    result.print_durations()
    printed = capsys.readouterr().out
    assert "producer" in printed and "work" in printed
    path = str(tmp_path / "trace.json")
    assert result.to_perfetto(path) == path
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    first = next(event for event in events if event["ph"] == "X")
    assert (first["pid"], first["tid"], first["ts"], first["dur"]) == (0, 0, 0.0, 0.096)
    assert result.to_chrome_trace(tmp_path / "b.json") == tmp_path / "b.json"


def test_sizes_are_those_of_the_format():
    prof = ws.Profiler(3, 2, device="cpu")
    assert prof.max_records_per_lane == 64
    assert prof.write_stride == 6
    assert prof.num_slots == 1 + 6 * 64
    assert len(prof.numpy()) == prof.num_slots
    assert prof.array.shape == (prof.num_slots,)
    assert prof.tensor is None
    assert prof.ptr == prof.array.ctypes.data
    assert prof.side_ptr == prof.ptr + 8 * prof.num_slots


def test_reset_empties_the_buffer_and_keeps_the_side_block():
    prof = ws.Profiler(2, 2, device="cpu", kernel="toy", launch_id=1)
    fake_kernel.toy(prof.capture, 2)
    prof.reset(launch_id=2)
    assert not prof.numpy().any()
    assert prof.launch_id == 2
    fake_kernel.toy(prof.capture, 2)
    result = prof.decode()
    assert (result.layout.launch_id, result.names.kernel, result.problems) == (2, "toy", [])


def test_what_an_event_costs_is_told_by_the_capture(tmp_path, capsys):
    prof = ws.Profiler(2, 2, device="cpu", event_cost_ns=17.7)
    fake_kernel.toy(prof.capture, 2)
    result = ws.load(prof.save(tmp_path / "dump.bin"))
    assert result.event_cost_ns == 17.7 and result.layout.event_cost_ps == 17_700
    result.print_durations()
    assert "recording an event takes 17.7 ns" in capsys.readouterr().out
    prof.reset(launch_id=2)
    fake_kernel.toy(prof.capture, 2)
    assert prof.decode().event_cost_ns == 17.7
    unmeasured = ws.Profiler(2, 2, device="cpu")
    fake_kernel.toy(unmeasured.capture, 2)
    assert unmeasured.decode().event_cost_ns is None
    unmeasured.decode().print_durations()
    assert "recording" not in capsys.readouterr().out
    for impossible in (-1, 5e6, float("nan")):
        with pytest.raises(ValueError, match="event_cost_ns"):
            ws.Profiler(2, 2, device="cpu", event_cost_ns=impossible)


def test_summary_by_names_and_by_ids():
    prof = ws.Profiler(2, 2, device="cpu")
    launch(prof)
    summary = prof.decode(EVENTS, GROUPS).summary()
    figures = summary["consumer", "wait"]
    assert figures["count"] == 8 and figures["mean_ns"] == 128 and figures["max_ns"] == 128
    assert {"median_ns", "p90_ns", "p99_ns", "min_ns", "total_ns"} <= set(figures)
    assert summary[1, 0] == figures and (1, 0) in summary and summary.get((1, 0)) == figures
    assert (1, 7) not in summary and summary.get((7, 7)) is None
    with pytest.raises(KeyError):
        summary["consumer", "none"]
    assert list(summary) == [(g, e) for g in ("producer", "consumer") for e in ("wait", "work")]


def test_events_of_one_name_are_one_entry():
    spans = [ws.Span(0, 0, event, 10 * event, 4 + event) for event in (1, 2)]
    summary = ws.TraceResult(1, 1, spans, [], ["a", "b", "b"]).summary()
    assert summary["group_0", "b"]["count"] == 2
    assert summary[0, 2]["total_ns"] == 11


def test_names_and_results_made_by_hand():
    spans = [ws.Span(0, 2, 7, 100, 50)]
    result = ws.TraceResult(1, 3, spans, [ws.Instant(0, 1, 3, 120)])
    assert result.event_name(7) == "event_7" and result.group_name(2) == "group_2"
    assert result.summary()["group_2", "event_7"]["count"] == 1
    result.spans.append(ws.Span(0, 2, 7, 200, 150, payload=5))
    assert result.durations("group")["max_ns"].tolist() == [150]
    assert result.spans_array()["payload"].tolist() == [0, 5]
    result.spans = result.spans[1:]
    assert len(result.spans_array()) == 1
    assert result.instants_array()["ts_ns"].tolist() == [120]


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_blocks": -1},
        {"max_records_per_lane": 1 << 33},
        {"max_records_per_lane": 0},
        {"max_records_per_lane": (1 << 32) - 1, "num_blocks": 1 << 19},
        {"write_stride": 1 << 32},
        {"launch_id": -1},
        {"launch_id": 1 << 64},
        {"blocks": range(0, 1 << 33)},
        {"tiles": range(0, 8, 1 << 33)},
    ],
)
def test_arguments_that_cannot_be(wrong):
    with pytest.raises(ValueError, match=r"\d"):
        ws.Profiler(**{"num_blocks": 2, "num_groups": 2, "device": "cpu", **wrong})


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        ({"launch_id": 1.5}, TypeError, "launch_id 1.5 is not an integer"),
        ({"flows": [(1,)]}, ValueError, r"flows has \(1,\): each is two ids"),
        ({"flows": [3]}, ValueError, "flows has 3: each is two ids"),
        ({"flows": [(1, "x")]}, TypeError, "flows has 'x': ids of events are"),
        ({"flows": [(1, 5000)]}, ValueError, "flows has 5000: ids of events are 0 to 1023"),
        ({"flows": [(-1, 2)]}, ValueError, "flows has -1: ids of events are 0 to 1023"),
        ({"waits": [2.0]}, TypeError, "waits has 2.0: ids of events are"),
        ({"waits": [True]}, TypeError, "waits has True: ids of events are"),
        ({"waits": [-3]}, ValueError, "waits has -3: ids of events are 0 to 1023"),
        ({"waits": [1024]}, ValueError, "waits has 1024: ids"),
        ({"waits": [1 << 70]}, ValueError, "waits has 1180591620717411303424: ids"),
        ({"kernel": 5}, TypeError, "kernel 5 is not a str"),
    ],
)
def test_arguments_of_another_kind(wrong, kind, said):
    with pytest.raises(kind, match=said):
        ws.Profiler(2, 2, device="cpu", **wrong)


def test_the_first_and_the_last_id_are_ids():
    last = np.uint64(1023)
    names = ws.Profiler(2, 2, device="cpu", waits=[0, last], flows=[(last, 0)]).names
    assert (names.waits, names.flows) == ([0, 1023], [(1023, 0)])


def test_numbers_of_decode_that_cannot_be():
    for name in ("num_blocks", "num_groups", "max_records"):
        for wrong in (-5, 1 << 40):
            with pytest.raises(ValueError, match=f"{name} {wrong}"):
                ws.decode(words_of_one_span(), **{name: wrong})
    prof = ws.Profiler(1, 1, device="cpu")
    with pytest.raises(ValueError, match="launch_id"):
        prof.reset(launch_id=-1)


def test_tags():
    tag = ws.pack_tag(block=5, group=1, num_groups=4, event_id=9, event_type=ws.EVENT_TYPE_END)
    assert tag == 21 << 12 | 9 << 2 | 1
    assert ws.decode_tag(tag, 4) == (5, 1, 9, 1)
    assert ws.decode_tag(tag, 4).event_id == 9
    for wrong in (
        (1 << 20, 0, 1, 0, 0),
        (0, 0, 1, 1024, 0),
        (0, 0, 1, 0, 4),
        (0, 1, 1, 0, 0),
        (0, 0, 0, 0, 0),
        (-1, 0, 1, 0, 0),
    ):
        with pytest.raises(ValueError):
            ws.pack_tag(*wrong)
    types = ws.EVENT_TYPE_BEGIN, ws.EVENT_TYPE_END, ws.EVENT_TYPE_INSTANT, ws.EVENT_TYPE_FINALIZE
    assert types == (0, 1, 2, 3) and ws.WIRE_VERSION == 1 and ws.__version__


def words_of_one_span():
    return [1 << 32 | 1, 100 << 32 | 4, 150 << 32 | 5, 160 << 32 | 3, 0]


@pytest.mark.parametrize(
    "convert",
    [
        list,
        tuple,
        lambda words: np.array(words, dtype=np.uint64),
        lambda words: np.array(words, dtype=np.int64),
        lambda words: np.array(words, dtype=">u8"),
        lambda words: np.array(words * 2, dtype=np.uint64).reshape(2, 5)[0],
        lambda words: np.repeat(np.array(words, dtype=np.uint64), 2)[::2],
        lambda words: np.array(words, dtype="<u8").tobytes(),
        lambda words: memoryview(b"x" + np.array(words, dtype="<u8").tobytes())[1:],
    ],
)
def test_decode_takes_whatever_holds_words(convert):
    result = ws.decode(convert(words_of_one_span()), event_names=["a", "b"], group_names=["g"])
    assert result.spans == [ws.Span(0, 0, 1, 0, 50)]
    assert result.event_name(1) == "b" and result.group_name(0) == "g"


def test_decode_refuses_what_holds_no_words():
    for wrong in (np.zeros(3), np.zeros(3, dtype=np.int32), ["a"]):
        with pytest.raises((TypeError, ValueError)):
            ws.decode(wrong)
    with pytest.raises(ValueError, match="flashinfer-2025-03"):
        ws.decode([0], dialect="flashinfer")


def test_one_warning_when_something_is_lost():
    words = words_of_one_span()
    words[0] = 0
    with pytest.warns(ws.WarpscopeWarning, match="header is empty") as caught:
        ws.decode(words)
    assert len(caught) == 1 and caught[0].filename == __file__
    ws.decode(words, warn=False)
    prof = ws.Profiler(2, 2, max_records_per_lane=6, device="cpu")
    launch(prof)
    with pytest.warns(ws.WarpscopeWarning, match="4 lanes are full") as caught:
        result = prof.decode()
    assert len(caught) == 1 and caught[0].filename == __file__
    (problem,) = [problem for problem in result.problems if problem.is_loss]
    assert (problem.kind, problem.count, problem.lane) == ("possibly_lost", 4, 0)


def test_nothing_recorded_is_told():
    with pytest.warns(ws.WarpscopeWarning, match="nothing was recorded"):
        result = ws.Profiler(2, 2, device="cpu").decode()
    assert result.spans == [] and result.summary() == {}


def test_a_kernel_that_writes_no_header_has_the_shape_of_its_profiler():
    prof = ws.Profiler(2, 2, device="cpu")
    launch(prof)
    prof.array[0] = 0
    result = prof.decode()
    assert (result.num_blocks, result.num_groups, result.problems) == (2, 2, [])


def test_the_argument_of_a_kernel():
    prof = ws.Profiler(
        4, 2, 8, "cpu", placement="lanes", policy="both", payloads=True,
        blocks=range(0, 4, 2), tiles=range(3, 9),
    )  # fmt: skip
    capture = prof.capture
    assert ctypes.sizeof(capture) == 80 == np.asarray(capture).nbytes
    assert capture.words == prof.ptr and capture.side == prof.side_ptr
    assert capture.extensions == prof.side_ptr + 8 * prof.side_words
    assert capture.extensions % 16 == prof.ptr % 16
    shape = capture.num_blocks, capture.num_groups, capture.max_records, capture.placement
    assert shape == (4, 2, 8, 1)
    window = [getattr(capture, name) for name, _ in ws.Capture._fields_[9:15]]
    assert window == [0, 4, 2, 3, 9, 1] and capture.policy == 2
    assert ws.Profiler(1, 1, device="cpu", side=False).capture.side == 0


@pytest.mark.parametrize(
    "options",
    [
        {"num_blocks": 0},
        {"num_groups": 0},
        {"max_records_per_lane": 0},
        {"num_blocks": 1 << 20, "num_groups": 2},
        {"placement": "rows"},
        {"clock": "wall"},
        {"policy": "newest"},
        {"write_stride": 1},
        {"placement": "lanes", "max_records_per_lane": 7},
        {"payloads": True, "side": False},
        {"blocks": range(5, 5)},
        {"tiles": range(5, 0, -1)},
        {"library": "jax"},
        {"library": "torch"},
    ],
)
def test_impossible_options(options):
    with pytest.raises(ValueError):
        ws.Profiler(**{"num_blocks": 2, "num_groups": 2, "device": "cpu", **options})


def test_a_window_is_a_range():
    with pytest.raises(TypeError, match="range"):
        ws.Profiler(2, 2, device="cpu", blocks=(0, 1))
