// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { kernelCounters, rateColumns } from "./rates";

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
