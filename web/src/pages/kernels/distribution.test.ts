// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { place, scaleOf, sketchOf } from "./distribution";

const time = {
  count: 4,
  total: 1111,
  min: 1,
  max: 1000,
  mean: 277,
  median: 10,
  p90: 100,
  p99: 1000,
};

it("places percentiles on one logarithmic scale", () => {
  const scale = scaleOf([time, { count: 0, total: 0 }, { count: 1, total: 5, min: 5, max: 5 }]);
  expect(scale).toEqual({ low: 1, high: 1000 });
  const sketch = sketchOf(time, scale)!;
  expect(sketch.min).toBe(0);
  expect(sketch.median).toBeCloseTo(1 / 3);
  expect(sketch.p90).toBeCloseTo(2 / 3);
  expect(sketch.max).toBe(1);
});

it("stays inside for values of zero and for one value", () => {
  expect(place(0, { low: 10, high: 100 })).toBe(0);
  const one = scaleOf([{ count: 1, total: 7, min: 7, max: 7 }]);
  expect(one.high).toBeGreaterThan(one.low);
  expect(scaleOf([])).toEqual({ low: 1, high: 10 });
});

it("draws nothing where there are no percentiles", () => {
  expect(sketchOf({ count: 1, total: 5, min: 5, max: 5 }, { low: 1, high: 10 })).toBeNull();
});
