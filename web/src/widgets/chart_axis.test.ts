// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { extent, nearestIndex, summary, timeLabels, TIME_STEPS, VALUE_STEPS } from "./chart_axis";

describe("labels of a time axis", () => {
  it("are in one unit, with as many decimals as tell ticks apart", () => {
    expect(timeLabels([0, 5e8, 1e9], 5e8)).toEqual(["0.0 s", "0.5 s", "1.0 s"]);
    expect(timeLabels([1.0001e9, 1.0002e9], 1e5)).toEqual(["1.0001 s", "1.0002 s"]);
    expect(timeLabels([0, 2e6], 2e6)).toEqual(["0 ms", "2 ms"]);
    expect(timeLabels([0, 60e9, 120e9], 60e9)).toEqual(["0 s", "60 s", "120 s"]);
    expect(timeLabels([0, 300e9], 300e9)).toEqual(["0 min", "5 min"]);
    expect(timeLabels([0, 900e9, 5400e9], 900e9)).toEqual(["0:00:00", "0:15:00", "1:30:00"]);
    expect(timeLabels([5400e9, 5400.5e9], 5e8)).toEqual(["1:30:00.0", "1:30:00.5"]);
  });
  it("have steps in ascending order, from a nanosecond to days", () => {
    expect(TIME_STEPS).toEqual([...TIME_STEPS].sort((a, b) => a - b));
    expect(TIME_STEPS[0]).toBe(1);
    expect(TIME_STEPS.at(-1)).toBeGreaterThan(86_400e9);
  });
});

describe("the value next to the cursor", () => {
  it("is the nearer of two neighbours", () => {
    expect(nearestIndex([0, 10, 20], 14)).toBe(1);
    expect(nearestIndex([0, 10, 20], 16)).toBe(2);
    expect(nearestIndex([0, 10, 20], -5)).toBe(0);
    expect(nearestIndex([0, 10, 20], 99)).toBe(2);
    expect(nearestIndex([7], 99)).toBe(0);
    expect(nearestIndex([], 3)).toBe(-1);
  });
});

describe("what a chart says in words", () => {
  it("leaves out what is not known", () => {
    expect(extent([null, 3, 1, null])).toEqual({ min: 1, max: 3 });
    expect(extent([null])).toBeNull();
    const text = summary(
      "Power",
      "0 s to 4 s",
      [
        { label: "GPU 0", values: [1, null, 3] },
        { label: "GPU 1", values: [null] },
        { label: "GPU 2", values: [5, 5] },
      ],
      (value) => `${value} W`,
    );
    expect(text).toBe("Power, 0 s to 4 s. GPU 0: 1 W to 3 W; GPU 1: no values; GPU 2: 5 W.");
  });
});

it("has quarters between halves and fifths of round values", () => {
  expect(VALUE_STEPS.filter((step) => step >= 100 && step <= 1000)).toEqual([
    100, 200, 250, 500, 1000,
  ]);
});
