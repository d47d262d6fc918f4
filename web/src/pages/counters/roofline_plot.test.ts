// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { DeviceRoof, RooflinePoint } from "../../api/types";
import { chartsOf, nearestRoof, plotOf, roofsOf } from "./roofline_plot";

const point = (perByte: number, perS: number): RooflinePoint => ({
  label: "step",
  name: "step",
  device: 0,
  precision: "fp32",
  operations: perS,
  bytes: perS / perByte,
  time_ns: 1e9,
  operations_per_byte: perByte,
  operations_per_s: perS,
  bytes_per_s: perS / perByte,
  of_arithmetic: null,
  of_memory: null,
  uses_tensor_cores: null,
});
const unknown = { unknown: "the log has no width of the memory bus of the GPU" };
const roof: DeviceRoof = { device: 0, bytes_per_s: 5e12, fp32_per_s: 6e13, fp64_per_s: unknown };

describe("roofline", () => {
  it("takes the roofs of the GPU and the precision", () => {
    expect(roofsOf([roof], 0, "fp32")).toEqual({ bytesPerS: 5e12, operationsPerS: 6e13 });
    expect(roofsOf([roof], 0, "fp64")).toEqual({ bytesPerS: 5e12, operationsPerS: null });
    expect(roofsOf([roof], 1, "fp32")).toEqual({ bytesPerS: null, operationsPerS: null });
  });
  it("has a chart for each GPU and precision", () => {
    const double: RooflinePoint = { ...point(1, 1), precision: "fp64" };
    const points = [point(1, 1), double, { ...point(1, 1), device: 1 }, point(2, 2)];
    expect(chartsOf(points).map((chart) => chart.length)).toEqual([2, 1, 1]);
  });
  it("bends where memory and arithmetic limit alike", () => {
    const plot = plotOf([point(0.2, 1e11)], { bytesPerS: 5e12, operationsPerS: 6e13 });
    expect(plot.xTicks).toEqual([0.1, 1, 10, 100]);
    expect(plot.yTicks[0]).toBe(1e11);
    expect(plot.roof).toEqual([
      [0.1, 5e11],
      [12, 6e13],
      [100, 6e13],
    ]);
    expect(plot.x(0.1)).toBe(0);
    expect(plot.x(100)).toBe(1);
    expect(plot.y(1e11)).toBe(0);
  });
  it("draws the part of the roof that is known, or none", () => {
    const points = [point(2, 1e12)];
    expect(plotOf(points, { bytesPerS: 5e12, operationsPerS: null }).roof).toEqual([
      [1, 5e12],
      [10, 5e13],
    ]);
    expect(plotOf(points, { bytesPerS: null, operationsPerS: 6e13 }).roof).toEqual([
      [1, 6e13],
      [10, 6e13],
    ]);
    expect(plotOf(points, { bytesPerS: null, operationsPerS: null }).roof).toEqual([]);
  });
  it("names the nearest roof where both are known", () => {
    expect(nearestRoof(point(1, 1))).toBeNull();
    const near = { ...point(1, 1), of_memory: 0.61, of_arithmetic: 0.1 };
    expect(nearestRoof(near)).toEqual({ roof: "memory", share: 0.61 });
    expect(nearestRoof({ ...near, of_arithmetic: 0.7 })).toEqual({
      roof: "arithmetic",
      share: 0.7,
    });
    expect(nearestRoof({ ...near, of_arithmetic: null })).toBeNull();
  });
});
