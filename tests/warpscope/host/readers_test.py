# SPDX-License-Identifier: Apache-2.0
"""What readers_sample writes, read by readers that are not ours.

Perfetto's own published definitions (its PyPI package), and Python's json with exact decimals.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "export"))
from perfetto_definitions import perfetto_trace_pb2  # noqa: E402

WAIT = 'wait "full" \u03c0'
BAD = "bad \ufffd name"


class Perfetto:
    """The packets of a trace as tracks, slices, instants and flows, by the rules of the format."""

    def __init__(self, data):
        self.tracks = {}
        self.slices = []
        self.instants = []
        self.leaves = {}
        self.arrives = {}
        names = {}
        opened = {}
        events = []
        for packet in perfetto_trace_pb2.Trace.FromString(data).packet:
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            for entry in packet.interned_data.event_names:
                names[entry.iid] = entry.name
            if packet.HasField("track_event"):
                assert packet.sequence_flags & 2
                events.append(packet)
        # A viewer sorts by time and keeps the order of the file for equal ones.
        for packet in sorted(events, key=lambda packet: packet.timestamp):
            event = packet.track_event
            track = self.tracks[event.track_uuid]
            stack = opened.setdefault(event.track_uuid, [])
            if event.type == event.TYPE_SLICE_END:
                ended = stack.pop()
                ended["end"] = packet.timestamp
                self.leaves.update({flow: ended for flow in event.flow_ids})
                self.arrives.update({flow: ended for flow in event.terminating_flow_ids})
                continue
            found = {
                "name": names[event.name_iid],
                "start": packet.timestamp,
                "track": track,
                "args": {
                    note.name: getattr(note, note.WhichOneof("value"))
                    for note in event.debug_annotations
                },
            }
            if event.type == event.TYPE_INSTANT:
                self.instants.append(found)
            else:
                self.slices.append(found)
                stack.append(found)
        assert not any(opened.values()), "slices without an end"

    def path(self, track):
        """The names from the process down to the track."""
        above = self.path(self.tracks[track.parent_uuid]) if track.parent_uuid else []
        return [*above, track.process.process_name or track.name]

    def named(self, name):
        return [found for found in self.slices if found["name"] == name]


class ReadersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, folder], check=True)
            cls.chrome = json.loads(
                (Path(folder) / "trace.json").read_text(encoding="utf-8"), parse_float=Decimal
            )["traceEvents"]
            cls.perfetto = Perfetto((Path(folder) / "trace.pftrace").read_bytes())

    def test_tracks_are_sm_block_group(self):
        load = self.perfetto.named("load")[0]
        self.assertEqual(self.perfetto.path(load["track"]), ["SM 17", "block 0", "tma"])
        self.assertEqual((load["start"], load["end"]), (0, 501))
        self.assertEqual(load["args"], {"payload": 3})

    def test_crossing_spans_lie_on_siblings_that_merge(self):
        first, second = self.perfetto.named(BAD)
        self.assertEqual((first["start"], first["end"]), (600, 800))
        self.assertEqual((second["start"], second["end"]), (700, 900))
        self.assertEqual(first["args"], {"token": 1})
        self.assertEqual(second["args"], {"token": 2, "end_payload": 9})
        tracks = first["track"], second["track"]
        self.assertNotEqual(tracks[0].uuid, tracks[1].uuid)
        self.assertEqual(tracks[0].parent_uuid, tracks[1].parent_uuid)
        self.assertEqual([track.name for track in tracks], ["math", "math"])
        by_name = tracks[0].SIBLING_MERGE_BEHAVIOR_BY_TRACK_NAME
        self.assertEqual([track.sibling_merge_behavior for track in tracks], [by_name, by_name])

    def test_flow_leads_from_the_load_to_the_wait(self):
        self.assertEqual(list(self.perfetto.leaves), list(self.perfetto.arrives))
        (flow,) = self.perfetto.leaves
        self.assertEqual(self.perfetto.leaves[flow]["name"], "load")
        self.assertEqual(self.perfetto.arrives[flow]["name"], WAIT)

    def test_halves_and_instants_are_shown(self):
        halves = [found for found in self.perfetto.slices if "ending" in found["args"]]
        self.assertEqual(
            [(found["start"], found["end"], found["args"]["ending"]) for found in halves],
            [(200, 300, "no_end"), (400, 500, "no_begin")],
        )
        self.assertEqual(
            [(found["name"], found["start"], found["args"]) for found in self.perfetto.instants],
            [("event_5", 400, {}), ("event_5", 950, {"payload": 77})],
        )
        self.assertEqual(
            self.perfetto.path(self.perfetto.instants[0]["track"]), ["SM 4", "block 1", "math"]
        )

    def test_both_show_the_same(self):
        spans = sorted(
            (event["ts"] * 1000, event["dur"] * 1000, event["name"], event["pid"])
            for event in self.chrome
            if event["ph"] == "X"
        )
        blocks = {"block 0": 0, "block 1": 1}
        self.assertEqual(
            spans,
            sorted(
                (
                    found["start"],
                    found["end"] - found["start"],
                    found["name"],
                    blocks[self.perfetto.path(found["track"])[1]],
                )
                for found in self.perfetto.slices
            ),
        )
        self.assertEqual(len(spans), 6)

    def test_threads_of_chrome_hold_nested_spans_only(self):
        rows = {}
        for event in self.chrome:
            if event["ph"] == "X":
                row = rows.setdefault((event["pid"], event["tid"]), [])
                row.append((event["ts"], event["ts"] + event["dur"]))
        for row in rows.values():
            for begin, end in row:
                for other_begin, other_end in row:
                    self.assertFalse(begin < other_begin < end < other_end)
        names = {
            (event["pid"], event["tid"]): event["args"]["name"]
            for event in self.chrome
            if event["name"] == "thread_name"
        }
        self.assertLessEqual(set(rows), set(names))
        self.assertEqual(sorted(names.values()), ["math", "math", "math", "tma", "tma"])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
