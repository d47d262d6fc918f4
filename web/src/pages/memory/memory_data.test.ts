// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import type { MemoryUsage, SeriesInfo } from "../../api/types";
import {
  callTime,
  kindName,
  leftText,
  lineOfPoints,
  lineOfReadings,
  noCallTime,
  usedSeries,
} from "./memory_data";

it("adds up steps to times", () => {
  const line = lineOfReadings({
    id: "x",
    metric: "memory_used_bytes",
    step_ns: 8,
    step: [3, 6, 1],
    count: [1, 1, 1],
    last: [2, 3, 4],
    min: [1, 2, 3],
    mean: [2, 3, 4],
    max: [3, 4, 5],
  });
  expect(line).toEqual({ x: [24, 72, 80], values: [2, 3, 4], low: [1, 2, 3], high: [3, 4, 5] });
});

it("keeps least, mean and most of a series apart", () => {
  expect(lineOfPoints([[10, 1, 2, 3]])).toEqual({ x: [10], values: [2], low: [1], high: [3] });
});

it("finds readings of memory in use", () => {
  const series: SeriesInfo[] = [
    { id: "a", kind: "device_metric", device: 1, index: 0, metric: "memory_used_bytes" },
    { id: "b", kind: "device_metric", device: 1, index: 0, metric: "memory_free_bytes" },
    { id: "c", kind: "host_metric", index: 0, metric: "memory_used_bytes" },
  ];
  expect(usedSeries(series)).toEqual([{ id: "a", device: 1 }]);
});

it("says what was never released", () => {
  const use = (end_allocations: number, end_bytes: number) =>
    leftText({ end_allocations, end_bytes } as MemoryUsage);
  expect(use(0, 0)).toBeNull();
  expect(use(1, 14)).toBe("1 allocation was still there at the end");
  expect(use(1200, 14)).toBe("1,200 allocations were still there at the end");
});

it("adds up no time that is not known", () => {
  const known = { call_ns: 5 } as MemoryUsage;
  const unknown = { call_ns: { unknown: "calls were not recorded" } } as MemoryUsage;
  expect(callTime([known, known])).toBe(10);
  expect(callTime([known, unknown])).toBeNull();
  expect(noCallTime([known, unknown])).toBe("calls were not recorded");
  expect(noCallTime([known])).toBeUndefined();
});

it("has a name for kinds that nobody foresaw", () => {
  expect(kindName("device")).toBe("GPU memory");
  expect(kindName("some_new_kind")).toBe("some new kind");
});
