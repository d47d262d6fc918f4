// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { kernelCounters, rangeCounters, rateColumns } from "./rates";

it("draws a rate in the middle of the time that it is of", () => {
  const rate = { step_ns: 10, points: [[100, 1, 2, 3] as [number, number, number, number]] };
  const counter = {
    name: "tokens",
    samples: 2,
    first: 0,
    last: 1,
    increase: 1,
    per_second: 1,
    rate,
  };
  expect(rateColumns(counter)).toEqual({ x: [105], low: [1], mean: [2], high: [3] });
});

it("lists each counter of each kernel", () => {
  const samples = [
    { label: "a", full_name: "a()", samples: 3, stalls: {}, counters: { hits: 4, misses: 5 } },
    { label: "b", full_name: "b()", samples: 3, stalls: {}, counters: {} },
  ];
  expect(
    kernelCounters(samples).map(({ kernel, counter, value }) => [kernel, counter, value]),
  ).toEqual([
    ["a", "hits", 4],
    ["a", "misses", 5],
  ]);
});

it("lists each metric of each range", () => {
  const values = { count: 2, total: 6, min: 2, max: 4, mean: 3 };
  const ranges = [
    { label: "a", name: "a()", device: 0, counters: [{ metric: "dram__bytes.sum", values }] },
    { label: "b", name: "b", device: 0, counters: [] },
  ];
  expect(rangeCounters(ranges)).toEqual([
    { range: "a", device: 0, metric: "dram__bytes.sum", mean: 3, min: 2, max: 4, count: 2 },
  ]);
});
