// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { LaunchList } from "../../api/types";
import {
  firstStretch,
  laterStretches,
  launchesOf,
  mergeLaunches,
  nearest,
  OF_STRETCH,
  plotOf,
  reachOf,
  streamOf,
  thin,
} from "./launches";

const list: LaunchList = {
  version: 1,
  is_live: false,
  is_complete: true,
  indexed: { bytes: 1, of: 1 },
  span: [0, 1000],
  count: 3,
  tracks: ["kernels:0:1:7", "kernels:0:1:9"],
  start_ns: [100, 20, 55],
  duration_ns: [5, 9, 7],
  track: [0, 1, 0],
  event: ["a", "d", "c"],
  next_from: null,
};

describe("launches", () => {
  it("adds up differences", () => {
    expect(launchesOf(list).map(({ event, start }) => [event, start])).toEqual([
      ["a", 100],
      ["d", 120],
      ["c", 175],
    ]);
    expect(launchesOf(list).map(streamOf)).toEqual([
      "GPU 0, stream 7",
      "GPU 0, stream 9",
      "GPU 0, stream 7",
    ]);
  });
  it("looks at stretches that lie evenly where there are too many", () => {
    expect(laterStretches(list)).toEqual([]);
    const more = { ...list, span: [0, 48_000] as [number, number], next_from: 300 };
    const later = laterStretches(more);
    expect([later.length, later[0], later.at(-1)]).toEqual([47, 1000, 47_000]);
    // The first answer's thousands would be most of the dots, all of them at the beginning.
    const long = { ...more, event: Array.from({ length: 1000 }, (_, i) => `e${i}`) };
    expect(firstStretch(long).event.length).toBe(OF_STRETCH);
    expect(firstStretch(list)).toBe(list);
    expect([reachOf(list), reachOf(more)]).toEqual([null, [0, 48_000]]);
    expect(laterStretches({ ...list, next_from: 300, span: null })).toEqual([]);
  });
  it("counts what is in two stretches once", () => {
    const later = { ...list, start_ns: [120, 55, 500], event: ["d", "c", "e"] };
    expect(mergeLaunches([list, later]).map(({ event }) => event)).toEqual(["a", "d", "c", "e"]);
  });
  it("keeps the longest when it thins out", () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({
      event: String(i),
      track: "kernels:0:1:7",
      start: i,
      duration: i === 7777 ? 99 : 1,
    }));
    const few = thin(many, 1000);
    expect(few.length).toBeLessThanOrEqual(1001);
    expect(few.some(({ event }) => event === "7777")).toBe(true);
  });
  it("finds the dot under the pointer", () => {
    const launches = launchesOf(list);
    const plot = plotOf(launches, 300, 100);
    expect(nearest(launches, plot, plot.x(120) + 2, plot.y(9) - 2)).toBe(1);
    expect(nearest(launches, plot, plot.x(120), plot.y(9) + 60)).toBeNull();
    expect(plotOf(launches, 300, 100, [0, 1000]).x(500)).toBe(150);
    expect(plot.ticks.length).toBeGreaterThan(1);
    expect(plotOf([], 300, 100).ticks.every(Number.isFinite)).toBe(true);
  });
});
