# SPDX-License-Identifier: Apache-2.0
"""Traces for Chrome and Perfetto: every span is in them, and none hides another."""

import json
import subprocess
import sys
import xml.etree.ElementTree

import fake_kernel
import numpy as np
import pytest

import warpscope as ws

# An asynchronous copy overlaps what its group does meanwhile; "inner" is inside of "outer".
SPANS = [
    ws.Span(3, 1, 0, 1_000, 500, sm=17),
    ws.Span(3, 1, 1, 1_200, 600, payload=7, token=2, sm=17),
    ws.Span(3, 1, 2, 2_000, 1_000, sm=17),
    ws.Span(3, 1, 3, 2_100, 0, sm=17),
    ws.Span(3, 1, 3, 2_500, 500, cycles=900, sm=17),
    ws.Span(4, 0, 0, 5_000_000_000_001, 2),
]
INSTANTS = [ws.Instant(3, 1, 4, 1_300, payload=9)]
EVENTS = ["copy", "mma", "outer", "inner", 'a "mark"\n']


@pytest.fixture
def result():
    return ws.TraceResult(5, 2, SPANS, INSTANTS, EVENTS, ["producer", "consumer"])


def chrome(result, tmp_path):
    result.to_chrome_trace(tmp_path / "trace.json")
    return json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_chrome_has_every_span(result, tmp_path):
    events = chrome(result, tmp_path)
    found = [(e["pid"], e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"]
    wanted = [(s.block, EVENTS[s.event_id], s.begin_ns / 1000, s.dur_ns / 1000) for s in SPANS]
    assert sorted(found) == sorted(wanted)
    (mark,) = [e for e in events if e["ph"] == "i"]
    assert (mark["name"], mark["ts"], mark["tid"], mark["args"]) == (
        EVENTS[4],
        1.3,
        1,
        {"payload": 9},
    )
    assert [e["args"] for e in events if e["name"] == "mma"] == [{"payload": 7, "token": 2}]


def test_chrome_keeps_nanoseconds_of_long_kernels(result, tmp_path):
    result.to_chrome_trace(tmp_path / "trace.json")
    assert '"ts":5000000000.001,"dur":0.002' in (tmp_path / "trace.json").read_text()


def test_chrome_draws_overlapping_spans_on_lines_of_their_own(result, tmp_path):
    events = chrome(result, tmp_path)
    by_name = {e["name"]: e["tid"] for e in events if e["ph"] == "X" and e["pid"] == 3}
    assert by_name == {"copy": 1, "mma": 3, "outer": 1, "inner": 1}
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names == {(3, 1): "consumer", (3, 3): "consumer (2)", (4, 0): "producer"}
    blocks = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert blocks == {3: "block 3", 4: "block 4"}


def test_unmatched_records_are_drawn(tmp_path):
    words = [1 << 32 | 1, 100 << 32 | 1, 200 << 32 | 4, 300 << 32 | 3, 0]
    result = ws.decode(words, ["a", "b"])
    names = {e["name"]: e["dur"] for e in chrome(result, tmp_path) if e["ph"] == "X"}
    assert names == {"a (no begin)": 0.0, "b (no end)": 0.1}


def test_blocks_are_named_with_their_sm(tmp_path):
    prof = ws.Profiler(2, 2, device="cpu")
    fake_kernel.toy(prof.capture, 2)
    names = {
        e["args"]["name"] for e in chrome(prof.decode(), tmp_path) if e["name"] == "process_name"
    }
    assert names == {"block 0 (SM 0)", "block 1 (SM 1)"}


def read_perfetto(path):
    """The slices and instants of a trace, by what Perfetto says of its format."""
    trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = trace_pb2.Trace()
    trace.ParseFromString(path.read_bytes())
    names, tracks, open_slices, found = {}, {}, {}, []
    for packet in trace.packet:
        names.update({name.iid: name.name for name in packet.interned_data.event_names})
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            tracks[track.uuid] = track
            continue
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        track = tracks[event.track_uuid]
        details = {note.name: note.uint_value for note in event.debug_annotations}
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type == event.TYPE_SLICE_BEGIN:
            stack.append((packet.timestamp, names[event.name_iid], details))
        elif event.type == event.TYPE_SLICE_END:
            begin, name, details = stack.pop()
            process = tracks[track.parent_uuid].process
            found.append(
                (process.pid - 1, track.name, name, begin, packet.timestamp - begin, details)
            )
        else:
            found.append((track.name, names[event.name_iid], packet.timestamp, details))
    assert not any(open_slices.values())
    return found


def test_perfetto_has_every_span_and_instant(result, tmp_path):
    path = tmp_path / "trace.perfetto-trace"
    assert result.to_perfetto(path) == path
    found = read_perfetto(path)
    wanted = []
    for span in SPANS:
        details = {"payload": span.payload, "token": span.token, "cycles": span.cycles}
        details = {key: value for key, value in details.items() if value is not None}
        group = ["producer", "consumer"][span.group]
        wanted.append(
            (span.block, group, EVENTS[span.event_id], span.begin_ns, span.dur_ns, details)
        )
    instants = [row for row in found if len(row) == 4]
    assert instants == [("consumer", EVENTS[4], 1_300, {"payload": 9})]
    assert sorted(row[:5] for row in found if len(row) == 6) == sorted(row[:5] for row in wanted)
    by_span = {row[:5]: row[5] for row in wanted}
    assert all(by_span[row[:5]] == row[5] for row in found if len(row) == 6)


def test_perfetto_by_the_name_of_the_file(result, tmp_path):
    for name, is_json in (("a.json", True), ("a.pftrace", False), ("a.perfetto-trace", False)):
        result.to_perfetto(str(tmp_path / name))
        assert (tmp_path / name).read_bytes().startswith(b"{") == is_json


SVG = "{http://www.w3.org/2000/svg}"


def read_svg(path):
    """What is drawn of each span, as the words that appear above it, and where."""
    root = xml.etree.ElementTree.parse(path).getroot()
    rects = [rect for rect in root.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    place = ("x", "y", "width", "height")
    return root, [
        (rect.find(f"{SVG}title").text, [float(rect.get(key)) for key in place]) for rect in rects
    ]


def test_svg_has_every_span_on_its_place(result, tmp_path):
    path = tmp_path / "a.svg"
    assert result.to_svg(path, [3]) == path
    root, drawn = read_svg(path)
    assert len(drawn) == sum(span.block == 3 for span in SPANS)
    width = float(root.get("width"))
    for title, (x, _, wide, _) in drawn:
        assert 0 < x <= x + wide <= width, title
    # Overlapping ranges of a lane are never drawn over each other unless one is inside the other.
    for i, (_, (x, y, wide, high)) in enumerate(drawn):
        for _, (x2, y2, wide2, high2) in drawn[i + 1 :]:
            if x < x2 + wide2 - 0.2 and x2 < x + wide - 0.2 and y < y2 + high2 and y2 < y + high:
                assert (y, high) != (y2, high2)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "block 3" in texts and "consumer" in texts and "producer" not in texts
    marks = [path.find(f"{SVG}title").text for path in root.iter(f"{SVG}path") if len(path)]
    assert len(marks) == 1 and "payload 9" in marks[0]


def test_svg_of_some_blocks_and_times(result, tmp_path):
    chosen = SPANS[-1]
    result.to_svg(tmp_path / "a.svg", [chosen.block], chosen.begin_ns, chosen.end_ns)
    _, drawn = read_svg(tmp_path / "a.svg")
    reaching = [
        span
        for span in SPANS
        if span.block == chosen.block
        and span.begin_ns < chosen.end_ns
        and span.end_ns >= chosen.begin_ns
    ]
    assert len(drawn) == len(reaching) > 0


def test_svg_is_bounded_and_escaped(tmp_path):
    spans = [ws.Span(0, 0, i % 2, 10 * i, 5) for i in range(200_000)]
    many = ws.TraceResult(1, 1, spans, event_names=["<a>\x01", '"b" & c'])
    many.to_svg(tmp_path / "a.svg")
    _, drawn = read_svg(tmp_path / "a.svg")
    assert 1000 < len(drawn) < 5000 and drawn[0][0].startswith("<a>\ufffd: 5 ns")
    assert (tmp_path / "a.svg").stat().st_size < 1_000_000


def picture_error(result, path, *arguments):
    with pytest.raises(ValueError) as caught:
        result.to_svg(path, *arguments)
    assert not path.exists()
    return str(caught.value)


def test_svg_of_nothing_is_an_error(tmp_path):
    path = tmp_path / "a.svg"
    untouched = ws.Profiler(2, 2, device="cpu")
    for empty in (
        ws.TraceResult(0, 0),
        ws.decode(np.zeros(0, np.uint64), warn=False),
        ws.decode(untouched.words(), warn=False),
    ):
        assert "no record to draw: launch the kernel with its buffer" in picture_error(empty, path)


def test_svg_of_blocks_without_a_record_names_one_that_has(result, tmp_path):
    path = tmp_path / "a.svg"
    said = picture_error(result, path, [])
    assert said == "the chosen blocks (none) have no record to draw: choose others, such as block 3"


def test_svg_of_a_gap_is_an_error(result, tmp_path):
    path = tmp_path / "a.svg"
    said = picture_error(result, path, [3, 4], 5_000, 6_000)
    assert said == (
        "nothing was recorded from 5000 ns on to 6000 ns: these blocks go from 1000 to "
        "5000000000003 ns, with nothing between 3000 and 5000000000001 ns"
    )
    result.to_svg(path, [3, 4], 3_000, 6_000)  # at its edge something ends
    assert {title.partition(":")[0] for title, _ in read_svg(path)[1]} == {"outer", "inner"}


def test_svg_has_a_range_of_no_length_at_the_end(tmp_path):
    spans = [ws.Span(0, 0, 0, 0, 100), ws.Span(0, 0, 1, 100, 0)]
    ws.TraceResult(1, 1, spans, event_names=["a", "b"]).to_svg(tmp_path / "a.svg")
    assert [title for title, _ in read_svg(tmp_path / "a.svg")[1]] == [
        "a: 100 ns at 0 ns",
        "b: 0 ns at 100 ns",
    ]


def test_importing_brings_numpy_alone():
    code = "import warpscope, sys; print(sorted({'torch', 'cupy', 'perfetto'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                         env={"PYTHONPATH": ":".join(sys.path)})  # fmt: skip
    assert ran.stdout == "[]\n"
