# SPDX-License-Identifier: Apache-2.0
"""Random kernels, recorded by the stand-in for the device header, come back as what they did; and
no words whatever make decoding raise."""

import numpy as np
import pytest

pytest.importorskip("hypothesis")

from fake_kernel import BEGIN, END, INSTANT, Clocks, Lane
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import warpscope as ws

QUICK = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)

STEPS = st.one_of(
    st.tuples(st.sampled_from(["start", "end", "inst"]), st.integers(0, 3)),
    st.tuples(st.just("open"), st.integers(0, 3)),
    st.tuples(st.just("close"), st.integers(0, 5)),
)
LANE = st.lists(st.tuples(STEPS, st.integers(0, 5000)), max_size=40)


@st.composite
def kernels(draw):
    """(options of a Profiler, the steps of each lane, the clock, whether lanes reach their end)."""
    blocks, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    options = {
        "num_blocks": blocks,
        "num_groups": groups,
        "max_records_per_lane": 2 * draw(st.integers(1, 24)),
        "placement": draw(st.sampled_from(["strided", "lanes"])),
        "policy": draw(st.sampled_from(["first", "last", "both"])),
        "payloads": draw(st.booleans()),
        "write_stride": blocks * groups + draw(st.integers(0, 3)),
    }
    steps = [draw(LANE) for _ in range(blocks * groups)]
    counts_cycles = draw(st.booleans())
    # Just before the 32-bit clock turns over, or anywhere.
    start = draw(st.sampled_from([5_000, (7 << 32) - 3_000, (7 << 31) - 1_000, 1 << 60]))
    finalizes = draw(st.booleans())
    return options, steps, Clocks(start, 2, counts_cycles), finalizes


def run(lane, steps):
    open_tokens = []
    for (step, argument), pause in steps:
        lane.clocks.ns += pause
        if step == "close":
            if argument < len(open_tokens):
                lane.close(open_tokens.pop(argument))
        elif step == "open":
            open_tokens.append(lane.open(argument, payload=len(lane.offered)))
        else:
            getattr(lane, step)(argument, payload=len(lane.offered))


def kept(lane):
    """(the records that are in the buffer, in the order of the program; index of the first behind
    overwritten ones or None)."""
    room, policy = lane.room, lane.capture.policy
    if len(lane.offered) <= room:
        return lane.offered, None
    if policy == 0 or room == 0:
        return lane.offered[:room], None
    head = room // 2 if policy == 2 else 0
    return lane.offered[:head] + lane.offered[len(lane.offered) - (room - head) :], head


def expected(lane, has_extension):
    """(spans, unmatched, instants) of a lane, by a stack for each event and token."""
    records, gap = kept(lane)
    spans, ends, instants, stacks = [], [], [], {}
    for index, record in enumerate(records):
        behind = gap is not None and gap > 0 and index >= gap
        token = record.token if has_extension else None
        key = ("token", token) if token is not None else (record.event, behind)
        if record.type == BEGIN:
            spans.append([record, None])
            stacks.setdefault(key, []).append(spans[-1])
        elif record.type == INSTANT:
            instants.append(record)
        elif stacks.get(key):
            stacks[key].pop()[1] = record
        else:
            ends.append(record)
    whole = [span for span in spans if span[1] is not None]
    return whole, ends, [begin for begin, end in spans if end is None], instants


@QUICK
@given(kernels())
def test_a_kernel_comes_back_as_what_it_did(kernel):
    options, steps, clocks, finalizes = kernel
    prof = ws.Profiler(device="cpu", **options)
    began, lanes = clocks.ns, []
    for number, lane_steps in enumerate(steps):
        clocks.ns = began + 64 * number
        block, group = divmod(number, options["num_groups"])
        lanes.append(Lane(prof.capture, clocks, block, group))
        run(lanes[-1], lane_steps)
        clocks.ns += 32
        if finalizes or clocks.counts_cycles:
            lanes[-1].finalize()
    result = ws.decode(prof.words(), warn=False)

    has_extension = options["payloads"]
    spans, ends, begins, instants = [], [], [], []
    for lane in lanes:
        # Where a ring has no count, times alone tell where it begins: equal ones do not.
        if not finalizes and options["policy"] != "first" and len(lane.offered) > lane.room:
            if not clocks.counts_cycles:
                return
        for found, more in zip((spans, ends, begins, instants), expected(lane, has_extension)):
            found += [(lane, row) for row in more]
    origin = result.origin_ns or 0

    def payload(record):
        return record.payload if has_extension else None

    assert [
        (s.block, s.group, s.event_id, s.begin_ns + origin, s.dur_ns, s.payload, s.end_payload)
        for s in result.spans
    ] == [
        (lane.block, lane.group, begin.event, begin.ns, end.ns - begin.ns,
         payload(begin), payload(end))
        for lane, (begin, end) in spans
    ]  # fmt: skip
    assert [(i.block, i.event_id, i.ts_ns + origin) for i in result.instants] == [
        (lane.block, instant.event, instant.ns) for lane, instant in instants
    ]
    found = result.unmatched
    assert [(s.event_id, s.end_ns + origin) for s in found if s.ending == "no_begin"] == [
        (end.event, end.ns) for _, end in ends
    ]
    assert [(s.event_id, s.begin_ns + origin) for s in found if s.ending == "no_end"] == [
        (begin.event, begin.ns) for _, begin in begins
    ]
    dropped = sum(max(0, len(lane.offered) - lane.room) for lane in lanes)
    counted = {problem.kind: problem.count for problem in result.problems}
    if finalizes or clocks.counts_cycles:
        assert counted.get("dropped", 0) == dropped
        assert "not_finalised" not in counted


@QUICK
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from([BEGIN, END, INSTANT]), st.integers(0, 2))), max_size=5
    )
)
def test_the_v1_region_alone(lanes):
    """Without anchors: times count from the earliest record, across a turn of the clock."""
    stride, clock = len(lanes) or 1, (1 << 32) - 40
    longest = max((len(lane) for lane in lanes), default=0)
    words = np.zeros(1 + stride * (longest + 2), dtype=np.uint64)
    words[0] = 1 << 32 | stride
    offered = []
    for number, lane in enumerate(lanes):
        time = clock + number
        for index, (type, event) in enumerate([*lane, (3, 0)]):
            time += 7
            word = (time & 0xFFFFFFFF) << 32 | number << 12 | event << 2 | type
            words[1 + number + index * stride] = word
            offered.append((number, event, type, time))
    result = ws.decode(words)
    origin = min((time for *_, time in offered), default=0)
    instants = [
        (number, event, time - origin) for number, event, type, time in offered if type == 2
    ]
    assert [(i.block, i.event_id, i.ts_ns) for i in result.instants] == instants
    ranged = sum(1 for *_, type, _ in offered if type < 2)
    assert 2 * len(result.spans) + len(result.unmatched) == ranged
    assert all(span.dur_ns % 7 == 0 and span.dur_ns > 0 for span in result.spans)


WORDS = st.one_of(
    st.integers(0, 2**64 - 1),
    st.sampled_from([0, 1 << 32 | 1, 2 << 32 | 3, 0x3250435350524157, 2**64 - 1, 1 << 63]),
    st.builds(
        lambda lane, event, type, time: time << 32 | lane << 12 | event << 2 | type,
        st.integers(0, 6), st.integers(0, 3), st.integers(0, 3), st.integers(0, 2**32 - 1),
    ),
)  # fmt: skip


def exercise(result, folder):
    """Everything that can be asked of a result."""
    result.summary()
    result.durations()
    with open(folder / "text", "w") as file:
        result.print_durations(file)
    result.to_chrome_trace(folder / "chrome.json")
    result.to_perfetto(folder / "trace.pftrace")
    assert all(problem.count > 0 and problem.text for problem in result.problems)


def test_a_lane_whose_every_record_is_left_out(tmp_path):
    """Lane 1 has but a record of a type that the dialect does not know."""
    tags = [5 << 24 | 0 << 12, 5 << 24 | 1 << 12 | 3]
    words = [1 << 32 | 2, *(100 << 32 | tag for tag in tags)]
    result = ws.decode(words, dialect="flashinfer-2025-07", warn=False)
    assert result.lanes_array()["sm"].tolist() == [5]
    exercise(result, tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("garbage")


@QUICK
@given(words=st.lists(WORDS, max_size=60), dialect=st.sampled_from(list(ws.DIALECTS)))
def test_no_words_make_it_raise(folder, words, dialect):
    exercise(ws.decode(words, dialect=dialect, warn=False), folder)


@QUICK
@given(kernel=kernels(), changes=st.lists(st.tuples(st.floats(0, 1), WORDS), max_size=8),
       length=st.floats(0, 1.2))  # fmt: skip
def test_no_damage_makes_it_raise(folder, kernel, changes, length):
    options, steps, clocks, _ = kernel
    prof = ws.Profiler(device="cpu", event_names=["a"], **options)
    for number, lane_steps in enumerate(steps):
        lane = Lane(prof.capture, clocks, *divmod(number, options["num_groups"]))
        run(lane, lane_steps)
        lane.finalize()
    words = prof.words()
    for share, word in changes:
        words[int(share * (len(words) - 1))] = np.uint64(word)
    exercise(ws.decode(words[: int(length * len(words))], warn=False), folder)
