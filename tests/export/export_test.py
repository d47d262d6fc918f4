# SPDX-License-Identifier: Apache-2.0
"""What export_sample writes, read by readers that are not ours.

Perfetto's own published definitions (its PyPI package), Python's json with exact decimals, its csv
and gzip, and a protobuf reader of pprof's published profile.proto.
"""

import csv
import gzip
import json
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from perfetto_definitions import perfetto_trace_pb2  # isort: skip
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

HARD_NAME = "gemm<\"q\", 'x'>\n\x01 \u03c0 \ufffd"
LATE = 2**53 + 1
OFFSET = 1_000_000_003
LABELS = {  # of add(float*)
    "op": "aten::add",
    "module": "Net.head",
    "line": "train.py:90 in train_step()",
    "launched_at": "train.py:7 in main()",
}
SECOND_PID = 4712  # both processes have 4711


class Perfetto:
    """The packets of a trace as tracks, slices, counters and flows, by the rules of the format."""

    def __init__(self, data):
        self.trace = perfetto_trace_pb2.Trace.FromString(data)
        self.tracks = {}
        self.slices = []
        self.instants = []
        self.counters = []
        clock = {}
        state = {}
        for packet in self.trace.packet:
            sequence = packet.trusted_packet_sequence_id
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.sequence_flags & 1:
                state[sequence] = {"names": {}, "cats": {}, "args": {}, "texts": {}, "open": []}
                state[sequence]["defaults"] = packet.trace_packet_defaults
            if packet.HasField("clock_snapshot"):
                clocks = {c.clock_id: c for c in packet.clock_snapshot.clocks}
                if 64 in clocks:
                    assert clocks[64].is_incremental and clocks[64].timestamp == 0
                    clock[sequence] = clocks[3].timestamp
            if packet.HasField("track_event"):
                assert packet.sequence_flags & 2
                assert state[sequence]["defaults"].timestamp_clock_id == 64
                clock[sequence] += packet.timestamp
                self.take(packet, state[sequence], clock[sequence])
        assert all(not s["open"] for s in state.values()), "slices without an end"

    def take(self, packet, state, time):
        interned = packet.interned_data
        for entry in interned.event_names:
            state["names"][entry.iid] = entry.name
        for entry in interned.event_categories:
            state["cats"][entry.iid] = entry.name
        for entry in interned.debug_annotation_names:
            state["args"][entry.iid] = entry.name
        for entry in interned.debug_annotation_string_values:
            state["texts"][entry.iid] = entry.str.decode()
        event = packet.track_event
        track = self.tracks[state["defaults"].track_event_defaults.track_uuid]
        if event.type == event.TYPE_COUNTER:
            is_real = event.HasField("double_counter_value")
            value = event.double_counter_value if is_real else event.counter_value
            self.counters.append((track.name, time, value))
            return
        if event.type == event.TYPE_SLICE_END:
            state["open"].pop()["end"] = time
            return
        args = {}
        for annotation in event.debug_annotations:
            field = annotation.WhichOneof("value")
            value = getattr(annotation, field)
            if field == "string_value_iid":
                value = state["texts"][value]
            args[state["args"][annotation.name_iid]] = value
        found = {
            "name": state["names"][event.name_iid],
            "cat": state["cats"][event.category_iids[0]],
            "start": time,
            "depth": len(state["open"]),
            "track": track,
            "flows": list(event.flow_ids),
            "args": args,
        }
        if event.type == event.TYPE_INSTANT:
            self.instants.append(found)
        else:
            self.slices.append(found)
            state["open"].append(found)

    def named(self, name, cat=None):
        return [s for s in self.slices if s["name"] == name and cat in (None, s["cat"])]


def pprof_class():
    """pprof's Profile, made from the field numbers of its published definition."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="profile.proto", package="perftools.profiles", syntax="proto3"
    )

    def message(name, *fields):
        made = file.message_type.add(name=name)
        for number, called, kind, repeated in fields:
            label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
            added = made.field.add(name=called, number=number, label=label)
            if isinstance(kind, str):
                added.type = field.TYPE_MESSAGE
                added.type_name = f".perftools.profiles.{kind}"
            else:
                added.type = kind

    i64, u64, text, flag = field.TYPE_INT64, field.TYPE_UINT64, field.TYPE_STRING, field.TYPE_BOOL
    message("ValueType", (1, "type", i64, 0), (2, "unit", i64, 0))
    message("Label", (1, "key", i64, 0), (2, "str", i64, 0), (3, "num", i64, 0))
    message(
        "Sample", (1, "location_id", u64, 1), (2, "value", i64, 1), (3, "label", "Label", 1)
    )
    message("Mapping", (1, "id", u64, 0), (5, "filename", i64, 0), (7, "has_functions", flag, 0))
    message("Line", (1, "function_id", u64, 0), (2, "line", i64, 0))
    message(
        "Location",
        (1, "id", u64, 0),
        (2, "mapping_id", u64, 0),
        (3, "address", u64, 0),
        (4, "line", "Line", 1),
    )
    message(
        "Function",
        (1, "id", u64, 0),
        (2, "name", i64, 0),
        (3, "system_name", i64, 0),
        (4, "filename", i64, 0),
    )
    message(
        "Profile",
        (1, "sample_type", "ValueType", 1),
        (2, "sample", "Sample", 1),
        (3, "mapping", "Mapping", 1),
        (4, "location", "Location", 1),
        (5, "function", "Function", 1),
        (6, "string_table", text, 1),
        (9, "time_nanos", i64, 0),
        (10, "duration_nanos", i64, 0),
        (14, "default_sample_type", i64, 0),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName("perftools.profiles.Profile")
    )


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        subprocess.run([SAMPLE, cls.path], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_perfetto(self):
        trace = Perfetto((self.path / "sample.perfetto-trace").read_bytes())
        zero = 5_000_000_007  # CLOCK_MONOTONIC at the session's start
        hard = trace.named(HARD_NAME, "kernel")
        self.assertEqual(len(hard), 1)
        self.assertEqual((hard[0]["start"] - zero, hard[0]["end"] - zero), (10_007, 15_008))
        self.assertEqual(
            hard[0]["args"],
            {
                "grid": "128x2x1",
                "block": "256x1x1",
                "registers": 40,
                "shared_static": 1024,
                "shared_dynamic": 0,
                "occupancy": "56.25%, limited by registers",
                "correlation": 77,
                "scope": "step / train > forward",
                "launched_at": "train.py:90 in train_step()",
            },
        )
        late = trace.named("late")[0]
        self.assertEqual((late["start"] - zero, late["end"] - zero), (LATE, LATE + 1))
        self.assertEqual(late["flows"], [])

        # Who caused what: one call has the flows of both nodes of its graph.
        calls = [s for s in trace.slices if s["cat"] == "api" and s["flows"]]
        self.assertEqual(len(calls), 5)
        flows = [flow for call in calls for flow in call["flows"]]
        self.assertEqual(len(flows), len(set(flows)))
        ended = [f for s in trace.slices if s["cat"] != "api" for f in s["flows"]]
        self.assertEqual(sorted(flows), sorted(ended))
        nodes = trace.named("node")
        graph = next(c for c in calls if len(c["flows"]) == 2)
        self.assertEqual(sorted(graph["flows"]), sorted(f for n in nodes[:2] for f in n["flows"]))
        self.assertEqual(graph["start"] - zero, 18_000)
        self.assertEqual(nodes[0]["args"]["graph_node"], 2**60 + 1)
        self.assertEqual(nodes[2]["start"] - zero, OFFSET + 500)

        # Tracks: what overlaps has one of its own; scopes nest.
        added = trace.named("add(float*)")[0]
        self.assertNotEqual(added["track"].uuid, hard[0]["track"].uuid)
        self.assertEqual(added["track"].name, hard[0]["track"].name)
        self.assertEqual(added["track"].name, "stream 7")
        self.assertEqual({name: added["args"].get(name) for name in LABELS}, LABELS)
        device = trace.tracks[added["track"].parent_uuid]
        self.assertEqual(device.name, 'GPU 0: NVIDIA "H200"')
        process = trace.tracks[device.parent_uuid].process
        self.assertEqual(process.process_name, "rank 0: train (pid 4711)")
        pids = {t.process.pid for t in trace.tracks.values() if t.HasField("process")}
        self.assertEqual(pids, {4711, SECOND_PID})
        step = trace.named("step / train")[0]
        self.assertEqual((step["depth"], trace.named("forward")[0]["depth"]), (0, 1))
        self.assertEqual((step["track"].thread.pid, step["track"].thread.tid), (4711, 4711))
        wait = trace.named("StreamSynchronize")[0]
        self.assertEqual((wait["cat"], wait["end"] - wait["start"]), ("sync", 30_000))
        copy = trace.named("copy host to device")[0]
        self.assertEqual(copy["args"]["bytes"], 2**33)
        self.assertEqual(copy["args"]["source_memory"], "pageable")
        self.assertEqual(trace.named("graph 5")[0]["track"].name, "stream 11, graphs")
        malloc = trace.named("cudaMalloc")[0]
        self.assertEqual(malloc["args"]["address"], 0xFFFF800000000001)
        self.assertEqual(trace.named("cudaFree")[0]["args"]["error"], "cudaErrorInvalidValue")
        self.assertEqual([(m["name"], m["start"] - zero) for m in trace.instants], [("tick", 5_500)])
        issue, flight = trace.named("issue")[0], trace.named("in flight")[0]
        self.assertEqual((issue["start"] - zero, issue["end"] - zero), (10_500, 11_500))
        self.assertEqual((flight["start"] - zero, flight["end"] - zero), (11_000, 14_000))
        self.assertNotEqual(issue["track"].uuid, flight["track"].uuid)
        self.assertEqual((issue["args"]["stage"], issue["args"]["phase"]), (2, 1))
        track, path = trace.named("multiply", "warp")[0]["track"], []
        while track is not None and track.parent_uuid:
            path.append(track.name)
            track = trace.tracks.get(track.parent_uuid)
        self.assertEqual(path, ["block 3, math", "SM 12", "inside gemm", 'GPU 0: NVIDIA "H200"'])
        self.assertEqual(
            [(n, t - zero, v) for n, t, v in trace.counters],
            [
                ("tokens", 100, 1),
                ("tokens", 200, LATE),
                ("gpu_utilization_pct", 150, 97),
                ("dram__bytes.sum", 10_100, 0.3),
                ("dram__bytes.sum", 10_200, 12_000),
                ("cpu_utilization_pct", 160, 12),
                ("core_busy_pct 1", 160, 50),
            ],
        )

    def test_chrome(self):
        text = (self.path / "sample.chrome.json").read_text(encoding="utf-8")
        packed = gzip.decompress((self.path / "sample.chrome.json.gz").read_bytes())
        self.assertEqual(packed.decode(), text)
        document = json.loads(text, parse_float=Decimal)
        self.assertEqual(document["displayTimeUnit"], "ns")
        events = document["traceEvents"]
        slices = {e["name"]: e for e in events if e["ph"] == "X"}
        hard = slices[HARD_NAME]
        self.assertEqual((hard["ts"], hard["dur"]), (Decimal("10.007"), Decimal("5.001")))
        self.assertEqual(hard["args"]["registers"], 40)
        self.assertEqual(hard["args"]["launched_at"], "train.py:90 in train_step()")
        self.assertNotIn("op", hard["args"])
        added = slices["add(float*)"]["args"]
        self.assertEqual({name: added.get(name) for name in LABELS}, LABELS)
        self.assertEqual(slices["late"]["ts"] * 1000, LATE)
        multiply = slices["multiply"]
        self.assertEqual((multiply["ts"], multiply["dur"]), (Decimal("11.200"), Decimal("2.000")))
        self.assertEqual(slices["cudaMalloc"]["args"]["address"], str(0xFFFF800000000001))
        starts = sorted(e["id"] for e in events if e["ph"] == "s")
        self.assertEqual(starts, sorted(e["id"] for e in events if e["ph"] == "f"))
        self.assertEqual(len(set(starts)), 6)
        names = {
            (e["pid"], e["tid"]): e["args"]["name"]
            for e in events
            if e["ph"] == "M" and e["name"] == "thread_name"
        }
        self.assertEqual(names[(hard["pid"], hard["tid"])], "stream 7")
        counters = [e for e in events if e["ph"] == "C" and e["name"] == "tokens"]
        self.assertEqual([e["args"]["value"] for e in counters], [1, LATE])
        counters = [e for e in events if e["ph"] == "C" and e["name"] == "dram__bytes.sum"]
        self.assertEqual(
            [(e["ts"], e["pid"], e["args"]["value"]) for e in counters],
            [
                (Decimal("10.100"), hard["pid"], Decimal("0.3")),
                (Decimal("10.200"), hard["pid"], Decimal(12_000)),
            ],
        )
        self.check_no_overlap([e for e in events if e["ph"] == "X"])

    def check_no_overlap(self, slices):
        rows = {}
        for event in slices:
            span = (event["ts"], event["ts"] + event["dur"])
            rows.setdefault((event["pid"], event["tid"]), []).append(span)
        for spans in rows.values():
            open_ends = []
            for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
                while open_ends and open_ends[-1] <= start:
                    open_ends.pop()
                self.assertTrue(not open_ends or end <= open_ends[-1])
                open_ends.append(end)

    def test_speedscope(self):
        document = json.loads((self.path / "sample.speedscope.json").read_text(encoding="utf-8"))
        frames = document["shared"]["frames"]
        profiles = {p["name"]: p for p in document["profiles"]}

        def stacks(name):
            profile = profiles[name]
            named = [";".join(frames[f]["name"] for f in s) for s in profile["samples"]]
            self.assertEqual(profile["endValue"], sum(profile["weights"]))
            return dict(zip(named, profile["weights"]))

        first = "rank 0: train (pid 4711): "
        by_stack = stacks(first + "GPU time by CPU stack")
        self.assertEqual(by_stack["main;train_step;libx.so+0x1234;" + HARD_NAME], 5_001)
        self.assertEqual(by_stack["main;add(float*)"], 1_000)
        self.assertEqual(by_stack["(no stack recorded);node"], 200)
        by_scope = stacks(first + "GPU time by scope")
        self.assertEqual(by_scope["step / train;forward;" + HARD_NAME], 5_001)
        blocked = stacks(first + "blocked time by CPU stack")
        self.assertEqual(list(blocked.values()), [30_000])
        step = next(f for f in frames if f["name"] == "train_step")
        self.assertEqual((step["file"], step["line"]), ("/home/me/train.py", 90))
        evented = profiles[first + "scopes of thread 4711"]
        spoken = [(e["type"], frames[e["frame"]]["name"], e["at"]) for e in evented["events"]]
        self.assertEqual(
            spoken,
            [
                ("O", "step / train", 1_000),
                ("O", "forward", 2_000),
                ("C", "forward", 42_000),
                ("C", "step / train", 100_000),
            ],
        )

    def test_pprof(self):
        data = gzip.decompress((self.path / "sample.pb.gz").read_bytes())
        profile = pprof_class().FromString(data)
        texts = profile.string_table
        self.assertEqual(texts[0], "")
        types = [(texts[t.type], texts[t.unit]) for t in profile.sample_type]
        self.assertEqual(
            types,
            [
                ("gpu_time", "nanoseconds"),
                ("kernels", "count"),
                ("wait_time", "nanoseconds"),
                ("waits", "count"),
            ],
        )
        self.assertEqual(profile.time_nanos, 1_794_714_312_000_000_001)
        functions = {f.id: f for f in profile.function}
        locations = {l.id: l for l in profile.location}
        mappings = {m.id: texts[m.filename] for m in profile.mapping}

        def stack(sample):
            lines = [locations[i].line[0] for i in sample.location_id]
            return [(texts[functions[l.function_id].name], l.line) for l in lines]

        def labels(sample):
            return {texts[l.key]: texts[l.str] for l in sample.label}

        by_kernel = {
            (labels(s).get("kernel"), labels(s)["rank"]): s for s in profile.sample
        }
        hard = by_kernel[(HARD_NAME, "0")]
        self.assertEqual(list(hard.value), [5_001, 1, 0, 0])
        self.assertEqual(stack(hard), [("libx.so+0x1234", 0), ("train_step", 90), ("main", 7)])
        native = locations[hard.location_id[0]]
        self.assertEqual((mappings[native.mapping_id], native.address), ("/usr/lib/libx.so", 0x1234))
        self.assertEqual(labels(hard)["scope"], "step / train > forward")
        self.assertEqual(list(by_kernel[("node", "0")].value), [200, 2, 0, 0])
        self.assertEqual(list(by_kernel[("node", "1")].value), [100, 1, 0, 0])
        wait = next(s for s in profile.sample if "call" in labels(s))
        self.assertEqual(list(wait.value), [0, 0, 30_000, 1])

    def rows(self, name):
        with open(self.path / "sample-csv" / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, strict=True))

    def test_csv(self):
        kernels = self.rows("kernels.csv")
        self.assertEqual(len(kernels), 6)
        hard = kernels[0]
        self.assertEqual(hard["name"], HARD_NAME)
        self.assertEqual((hard["start_ns"], hard["duration_ns"]), ("10007", "5001"))
        self.assertEqual((hard["grid_y"], hard["registers"], hard["occupancy"]), ("2", "40", "0.5625"))
        self.assertEqual(hard["cluster_x"], "")
        added = next(k for k in kernels if k["name"] == "add(float*)")
        self.assertEqual({name: added[name] for name in LABELS}, LABELS)
        self.assertEqual(hard["scope"], "step / train > forward")
        self.assertEqual(int(next(k for k in kernels if k["name"] == "late")["start_ns"]), LATE)
        self.assertEqual((kernels[-1]["rank"], kernels[-1]["offset_ns"]), ("1", str(OFFSET)))
        self.assertEqual(self.rows("memory.csv")[0]["address"], str(0xFFFF800000000001))
        self.assertEqual(self.rows("memcpy.csv")[0]["direction"], "host to device")
        self.assertEqual(self.rows("counters.csv")[1]["value"], str(LATE))
        scopes = self.rows("scopes.csv")
        self.assertEqual([s["tag"] for s in scopes], ["train", ""])
        self.assertEqual(scopes[1]["parent"], scopes[0]["id"])
        found = sorted(p.name for p in (self.path / "sample-csv").iterdir())
        self.assertEqual(
            found,
            [
                f"{name}.csv"
                for name in (
                    "api counters device_metrics graphs host_metrics kernels markers memcpy memory "
                    "memset pm_sample scopes sync warp_span"
                ).split()
            ],
        )

    def test_json_and_csv_say_the_same(self):
        document = json.loads((self.path / "sample.json").read_text(encoding="utf-8"))
        self.assertEqual(document["format"], "gpufl-export")
        self.assertEqual(document["sessions"][1]["offset_ns"], str(OFFSET))
        header = document["sessions"][0]["header"]
        self.assertEqual(header["start_wall_ns"], "1794714312000000001")
        for session in document["sessions"]:
            self.assertEqual(session["duration_is_lower_bound"], not session["ended"])
        said = {}
        for session in document["sessions"]:
            for name, table in session["tables"].items():
                columns = table["columns"]
                for row in table["rows"]:
                    self.assertEqual(len(row), len(columns))
                    for column, cell in zip(columns, row):
                        if column["type"] == "id64" and cell is not None:
                            self.assertIsInstance(cell, str)
                    cells = {
                        c["name"]: "" if v is None else str(v) for c, v in zip(columns, row)
                    }
                    said.setdefault(name, []).append(cells)
        for name, rows in said.items():
            for row, cells in zip(self.rows(f"{name}.csv"), rows, strict=True):
                del row["session"], row["rank"], row["offset_ns"]
                self.assertEqual(row, cells)


if __name__ == "__main__":
    SAMPLE = sys.argv.pop(1)
    unittest.main()
