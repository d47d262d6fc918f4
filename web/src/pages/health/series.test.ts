// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { SeriesPicture } from "../../api/types";
import { columnsOf, rateOf, stretchesOf, sumOf } from "./series";

function series(step: number[], values: number[]): SeriesPicture {
  return {
    id: "a",
    metric: "a",
    step_ns: 100,
    step,
    count: values,
    min: values,
    max: values,
    last: values,
    mean: values,
  };
}

describe("columns", () => {
  it("line up series that were read at different times", () => {
    const { x, values } = columnsOf([series([1, 2], [10, 30]), series([2, 1], [7, 9])]);
    expect(x).toEqual([150, 250, 350]);
    expect(values).toEqual([
      [10, null, 30],
      [null, 7, 9],
    ]);
  });
  it("are empty without series", () => {
    expect(columnsOf([]).x).toEqual([]);
  });
});

describe("counters", () => {
  it("are drawn as growth in a second", () => {
    const { step, mean } = rateOf({ ...series([0, 10, 10], [0, 50, 150]), step_ns: 1e8 });
    expect(step).toEqual([10, 10]);
    expect(mean).toEqual([50, 100]);
  });
  it("that start anew have no growth there", () => {
    const { step, mean } = rateOf({ ...series([0, 10, 10], [90, 10, 20]), step_ns: 1e8 });
    expect(step).toEqual([20]);
    expect(mean).toEqual([10]);
  });
  it("of several links add up, each with its last reading", () => {
    const sum = sumOf([series([1, 2], [10, 30]), series([2, 1], [7, 9])]);
    expect(sum?.step).toEqual([1, 1, 1]);
    expect(sum?.mean).toEqual([10, 17, 39]);
    expect(sumOf([])).toBeNull();
  });
});

describe("bit sets", () => {
  it("are on from the reading with them to the next without", () => {
    const found = stretchesOf(series([0, 1, 1, 1], [0, 4, 5, 1]), 1000);
    expect(found.get(2)).toEqual([{ from_ns: 100, to_ns: 300 }]);
    expect(found.get(0)).toEqual([{ from_ns: 200, to_ns: 1000 }]);
    expect(found.has(1)).toBe(false);
  });
});
