// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Device, DeviceHealth } from "../../api/types";
import { hostsOf, isSilent, lineOf, pathOfLine } from "./fleet_data";

const NOW_MS = 1_794_714_312_000;

function device(host: string, id: string | null, secondsAgo: number | null): Device {
  const seen = secondsAgo === null ? null : `${NOW_MS - secondsAgo * 1000}000000`;
  return {
    host,
    id,
    sessions: 1,
    name: "Test GPU",
    last_seen_wall_ns: seen,
    last_reading_wall_ns: seen,
  };
}

function health(step: number[], mean: number[]): DeviceHealth {
  return {
    device: {
      id: "1",
      host: "a",
      uuid: "GPU-1",
      name: "Test GPU",
      last_seen_wall_ns: null,
      last_reading_wall_ns: null,
    },
    level_s: 60,
    step_s: 60,
    from_wall_ns: "0",
    series: [{ metric: "power_mw", index: 0, step, count: mean, min: mean, mean, max: mean }],
    series_left_out: 0,
  };
}

describe("devices", () => {
  it("are grouped by host, without those that have no readings", () => {
    const groups = hostsOf(
      [device("a", "1", 1), device("a", null, 1), device("b", "2", 900), device("a", "3", 900)],
      NOW_MS,
    );
    expect(groups.map(({ host }) => host)).toEqual(["a", "b"]);
    expect(groups.map(({ devices }) => devices.length)).toEqual([2, 1]);
    expect(groups.map((group) => group.isSilent)).toEqual([false, true]);
  });
  it("are silent once nothing has come for a while", () => {
    expect(isSilent(device("a", "1", 179), NOW_MS)).toBe(false);
    expect(isSilent(device("a", "1", 181), NOW_MS)).toBe(true);
    expect(isSilent(device("a", "1", null), NOW_MS)).toBe(true);
  });
});

describe("a line", () => {
  it("is as high as its values, and broken where there are none", () => {
    const line = lineOf(health([3, 4, 7], [50, 100, 25]), "power_mw", 100);
    expect(line?.latest).toBe(25);
    expect(line?.points).toEqual([
      { x: 0, y: 0.5 },
      { x: 0.25, y: 1 },
      { x: 1, y: null },
      { x: 1, y: 0.25 },
    ]);
    expect(line && pathOfLine(line, 100, 12)).toBe("M0.0,6.0L25.0,1.0M100.0,8.5");
  });
  it("ends at its largest value where none is given", () => {
    expect(lineOf(health([1, 2], [5, 10]), "power_mw")?.points.map(({ y }) => y)).toEqual([0.5, 1]);
  });
  it("is none where nothing was read", () => {
    expect(lineOf(health([1], [5]), "temperature_c")).toBeNull();
    expect(lineOf(health([], []), "power_mw")).toBeNull();
    expect(lineOf(health([4], [5]), "power_mw")?.points).toEqual([{ x: 1, y: 1 }]);
  });
});
