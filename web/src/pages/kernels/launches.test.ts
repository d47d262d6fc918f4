// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Tile, TrackInfo } from "../../api/types";
import { launchesIn, nearest, plotOf, slicesOf, thin } from "./launches";

const tiles: Pick<Tile, "tracks" | "names"> = {
  tracks: [
    {
      id: "kernels:0:1:7",
      rows: [
        {
          row: 0,
          is_exact: true,
          start_ns: [100, 50, 25],
          duration_ns: [5, 6, 7],
          name: [1, 2, 1],
          event: ["a", "b", "c"],
        },
        { row: 1, is_exact: true, start_ns: [120], duration_ns: [9], name: [1], event: ["d"] },
      ],
    },
  ],
  names: { kernels: { "1": { label: "f", name: "f<int>()" }, "2": { label: "g" } } },
};

describe("launches", () => {
  it("adds up differences and keeps one kernel", () => {
    const { launches, isWhole } = launchesIn(tiles, "f<int>()");
    expect(launches.map(({ event, start }) => [event, start])).toEqual([
      ["a", 100],
      ["d", 120],
      ["c", 175],
    ]);
    expect(isWhole).toBe(true);
    expect(launchesIn(tiles, "g").launches).toHaveLength(1);
    expect(launchesIn(tiles, "f").launches).toHaveLength(0);
  });
  it("fetches stretches that lie evenly where there are too many", () => {
    const track = (events: number): TrackInfo => ({
      id: "k",
      kind: "kernels",
      rows: 1,
      events,
      busy_ns: 1,
      span: events > 0 ? [0, 999] : null,
    });
    expect(slicesOf([track(10), track(0)])).toEqual({ slices: [{ from: 0, to: 1000 }], share: 1 });
    const { slices, share } = slicesOf([track(400_000)]);
    expect(share).toBe(0.1);
    expect(slices).toHaveLength(4);
    expect(slices.map(({ from, to }) => to - from)).toEqual([25, 25, 25, 25]);
    expect(slices[3]!.to).toBeLessThanOrEqual(1000);
    expect(slicesOf([]).slices).toEqual([]);
  });
  it("keeps the longest when it thins out", () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({
      event: String(i),
      start: i,
      duration: i === 7777 ? 99 : 1,
    }));
    const few = thin(many, 1000);
    expect(few.length).toBeLessThanOrEqual(1001);
    expect(few.some(({ event }) => event === "7777")).toBe(true);
  });
  it("finds the dot under the pointer", () => {
    const { launches } = launchesIn(tiles, "f<int>()");
    const plot = plotOf(launches, 300, 100);
    expect(nearest(launches, plot, plot.x(120) + 2, plot.y(9) - 2)).toBe(1);
    expect(nearest(launches, plot, plot.x(120), plot.y(9) + 60)).toBeNull();
    expect(plot.ticks.length).toBeGreaterThan(1);
    expect(plotOf([], 300, 100).ticks.every(Number.isFinite)).toBe(true);
  });
});
