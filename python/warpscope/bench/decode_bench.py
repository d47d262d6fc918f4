# SPDX-License-Identifier: Apache-2.0
"""How long decoding takes by the record: regions on a small and a large grid, with and without a
side block, nested and overlapping. Takes processor time, so that others on the machine disturb it
less. `--json FILE` keeps the figures."""

import argparse
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python" / "warpscope" / "src"), str(ROOT / "bench" / "python")]

from bench_figures import Figures, write_result  # noqa: E402

import warpscope as ws  # noqa: E402

AT_MOST_NS = 333  # 3 million records a second
REPEATS = 15


def record(time_ns, lane, event, type):
    return np.uint64(time_ns << 32 | event << 2 | type) | lane << np.uint64(12)


def region(blocks, groups, pattern, rounds):
    """Every lane repeats `pattern`, a list of (event, type), one every 64 ns, and ends."""
    lanes = blocks * groups
    lane = np.arange(lanes, dtype=np.uint64)
    records = len(pattern) * rounds
    words = np.zeros((records + 2, lanes), dtype=np.uint64)  # one slot of each is left
    for index in range(records):
        words[index] = record(1000 + 64 * index, lane, *pattern[index % len(pattern)])
    words[records] = record(1000 + 64 * records, lane, 0, 3)
    return np.concatenate([[np.uint64(groups << 32 | blocks)], words.reshape(-1)])


def with_side_block(words, blocks, groups):
    prof = ws.Profiler(blocks, groups, (len(words) - 1) // (blocks * groups), device="cpu")
    capture = prof.words()
    capture[: len(words)] = words
    entries = capture[len(words) + 16 :][: 8 * blocks * groups].reshape(-1, 8)
    entries[:, 0], entries[:, 2] = 900, 10**7
    entries[:, 4] = prof.max_records_per_lane - 2
    entries[:, 6] = 1 << 48 | 1 << 49
    return capture


FLAT = [(event, type) for event in range(4) for type in (0, 1)]
NESTED = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (0, 1)]
OVERLAPPING = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (2, 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    small, large = region(132, 4, FLAT, 250), region(20_000, 8, FLAT, 2)
    cases = {
        "132 blocks of 4 groups": small,
        "132 blocks of 4 groups, side block": with_side_block(small, 132, 4),
        "132 blocks of 4 groups, nested": region(132, 4, NESTED, 330),
        "132 blocks of 4 groups, overlapping": region(132, 4, OVERLAPPING, 330),
        "20,000 blocks of 8 groups": large,
    }
    figures = Figures()
    for name, words in cases.items():
        took = []
        for _ in range(REPEATS):
            begin = time.process_time()
            result = ws.decode(words)
            took.append(time.process_time() - begin)
        records = int(result.lanes_array()["records"].sum())
        assert 2 * len(result.spans_array()) == records and not result.problems, result.problems
        figures.add(
            f"decode, {name}", [1e9 * value / records for value in took], "ns/record", AT_MOST_NS
        )
        print(f"  {records:,} records, {records / min(took) / 1e6:.1f} million a second at best")
    return write_result("warpscope_python_decode_bench", figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
