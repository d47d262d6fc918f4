# SPDX-License-Identifier: Apache-2.0
"""Reads the golden buffers that the C++ decoder is held to as well."""

import json
import pathlib

import numpy as np

import warpscope as ws

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "tests" / "warpscope" / "golden"
TYPES = {"begin": 0, "end": 1, "instant": 2, "finalize": 3}


def names():
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def names_cases():
    path = FOLDER / "names_cases.json"
    return json.loads(path.read_text()) if path.is_file() else []


def read(name):
    """(words, options) of a buffer."""
    words, options = [], {}
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        if line.lstrip().startswith("text "):
            words += text_words(line)
            continue
        line = line.split("#")[0].split()
        if not line:
            continue
        if line[0].startswith("@"):
            options[line[0][1:]] = line[1] if len(line) > 1 else True
        else:
            words += parse(line[0], line[1:])
    return np.array(words, dtype=np.uint64), options


def text_words(line):
    content = json.loads(line.strip()[len("text ") :].rsplit('"', 1)[0] + '"').encode()
    content += bytes(-len(content) % 8)
    return [int.from_bytes(content[at : at + 8], "little") for at in range(0, len(content), 8)]


def parse(word, rest):
    if word == "empty":
        return [0] * (number(rest[0]) if rest else 1)
    if word == "magic":
        return [0x3250435350524157]
    if word in ("header", "pair"):
        return [number(rest[0]) | number(rest[1]) << 32]
    if word == "finalize":
        return [number(rest[1]) << 32 | number(rest[0]) << 12 | 3]
    if word in TYPES:
        lane, event, time = map(number, rest)
        return [time << 32 | lane << 12 | event << 2 | TYPES[word]]
    if word == "ext":
        payload, token = rest
        found = 0 if payload == "-" else number(payload) | 1 << 63
        return [found | (0 if token == "-" else number(token) << 32 | 1 << 62)]
    return [number(word)]


def number(text):
    return int(text, 0)


def decode(name, **more):
    words, options = read(name)
    counts = {
        key: int(options[key])
        for key in ("num_blocks", "num_groups", "max_records")
        if key in options
    }
    side = None if options.get("capture") else False
    dialect = options.get("dialect", "v1")
    return ws.decode(words, dialect=dialect, side=side, warn=False, **counts, **more)


def without_none(**members):
    return {key: value for key, value in members.items() if value is not None}


def span(found):
    members = without_none(
        block=found.block, group=found.group, event=found.event_id, start_ns=found.begin_ns,
        duration_ns=found.dur_ns, payload=found.payload, end_payload=found.end_payload,
        token=found.token, cycles=found.cycles, sm=found.sm,
    )  # fmt: skip
    if found.ending != "complete":
        members["ending"] = found.ending
    return members


def instant(found):
    return without_none(
        block=found.block, group=found.group, event=found.event_id, time_ns=found.ts_ns,
        payload=found.payload, token=found.token, sm=found.sm,
    )  # fmt: skip


def lane(row, wanted):
    found = {name: row[name].item() for name in row.dtype.names}
    return {name: found[name] for name in wanted}


def described(result, expected):
    """The result as golden files describe it, lanes with the members that the file has."""
    found = without_none(
        num_blocks=result.num_blocks,
        num_groups=result.num_groups,
        origin_ns=result.origin_ns,
        event_cost_ps=result.layout.event_cost_ps or None if result.layout is not None else None,
    )
    if "names" in expected:
        found["names"] = json.loads(result.names.to_json())
    found["spans"] = [span(row) for row in result.spans]
    for key, rows in (
        ("unmatched", [span(row) for row in result.unmatched]),
        ("instants", [instant(row) for row in result.instants]),
        ("problems", {problem.kind: problem.count for problem in result.problems}),
    ):
        if rows or key in expected:
            found[key] = rows
    if "lanes" in expected:
        rows = result.lanes_array()
        found["lanes"] = [
            lane(row, wanted) for row, wanted in zip(rows, expected["lanes"] + [{}] * len(rows))
        ]
    return found


def expected(name):
    return json.loads((FOLDER / f"{name}.json").read_text())
