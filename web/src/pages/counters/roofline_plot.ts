// SPDX-License-Identifier: Apache-2.0
// The geometry of a roofline: both axes logarithmic, whole powers of ten at their ends.
import type { DeviceRoof, RooflinePoint } from "../../api/types";
import { isUnknown } from "../../base/format";

export interface Roofs {
  bytesPerS: number | null;
  operationsPerS: number | null;
}

export interface Plot {
  // Powers of ten on each axis, ends included.
  xTicks: number[];
  yTicks: number[];
  // 0 to 1, from the left and from below.
  x: (operationsPerByte: number) => number;
  y: (operationsPerS: number) => number;
  // The roof's corners, as far as it is known; empty where nothing of it is.
  roof: [number, number][];
}

function known(value: DeviceRoof["bytes_per_s"]): number | null {
  return isUnknown(value) ? null : (value as number);
}

// Of one GPU in one precision; null is unknown.
export function roofsOf(
  roofs: DeviceRoof[],
  device: number,
  precision: RooflinePoint["precision"],
): Roofs {
  const roof = roofs.find((one) => one.device === device);
  if (!roof) return { bytesPerS: null, operationsPerS: null };
  return {
    bytesPerS: known(roof.bytes_per_s),
    operationsPerS: known(precision === "fp32" ? roof.fp32_per_s : roof.fp64_per_s),
  };
}

// Those of one GPU and one precision share a chart.
export function chartsOf(points: RooflinePoint[]): RooflinePoint[][] {
  const charts = new Map<string, RooflinePoint[]>();
  for (const point of points) {
    const key = `${point.device} ${point.precision}`;
    const chart = charts.get(key);
    if (chart) chart.push(point);
    else charts.set(key, [point]);
  }
  return [...charts.values()];
}

function powers(values: number[]): number[] {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  const first = Math.floor(Math.min(...logs));
  const last = Math.max(Math.ceil(Math.max(...logs)), first + 1);
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

function axis(ticks: number[]): (value: number) => number {
  const first = Math.log10(ticks[0]!);
  const last = Math.log10(ticks[ticks.length - 1]!);
  return (value) => (Math.log10(value) - first) / (last - first);
}

export function plotOf(points: RooflinePoint[], { bytesPerS, operationsPerS }: Roofs): Plot {
  const ridge = bytesPerS !== null && operationsPerS !== null ? operationsPerS / bytesPerS : null;
  const xTicks = powers([
    ...points.map((point) => point.operations_per_byte),
    ...(ridge === null ? [] : [ridge * 2]),
  ]);
  const left = xTicks[0]!;
  const right = xTicks[xTicks.length - 1]!;
  const speeds = points.map((point) => point.operations_per_s);
  if (operationsPerS !== null) speeds.push(operationsPerS * 1.2);
  else if (bytesPerS !== null) speeds.push(bytesPerS * right);
  const yTicks = powers(speeds);
  const bottom = yTicks[0]!;
  const roof: [number, number][] = [];
  if (bytesPerS !== null) {
    const low = Math.max(left, bottom / bytesPerS);
    roof.push([low, low * bytesPerS]);
    const end = ridge ?? right;
    if (end > low) roof.push([end, end * bytesPerS]);
  } else if (operationsPerS !== null) {
    roof.push([left, operationsPerS]);
  }
  if (operationsPerS !== null && (ridge === null || ridge < right)) {
    roof.push([right, operationsPerS]);
  }
  return { xTicks, yTicks, x: axis(xTicks), y: axis(yTicks), roof };
}

// "memory 61%": the roof that a range is nearest to; null where both have to be known and are not.
export function nearestRoof({
  of_memory: memory,
  of_arithmetic: arithmetic,
}: RooflinePoint): { roof: "memory" | "arithmetic"; share: number } | null {
  if (memory === null || arithmetic === null) return null;
  return memory >= arithmetic
    ? { roof: "memory", share: memory }
    : { roof: "arithmetic", share: arithmetic };
}
