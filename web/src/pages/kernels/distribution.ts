// SPDX-License-Identifier: Apache-2.0
// A distribution as a sketch: where its percentiles lie on a logarithmic scale.
import type { Stats } from "../../api/types";

export interface Scale {
  low: number;
  high: number;
}

export interface Sketch {
  min: number;
  median: number;
  p90: number;
  p99: number;
  max: number;
}

// From the shortest to the longest of all, so that rows compare.
export function scaleOf(all: Stats[]): Scale {
  let low = Infinity;
  let high = 0;
  for (const { min, max } of all) {
    if (min !== undefined) low = Math.min(low, Math.max(min, 1));
    if (max !== undefined) high = Math.max(high, max);
  }
  if (high <= 0 || !Number.isFinite(low)) return { low: 1, high: 10 };
  return { low, high: Math.max(high, low * 1.5) };
}

export function place(value: number, { low, high }: Scale): number {
  const at = Math.log(Math.max(value, 1) / low) / Math.log(high / low);
  return Math.min(Math.max(at, 0), 1);
}

// null: the report has no percentiles.
export function sketchOf(time: Stats, scale: Scale): Sketch | null {
  const { min, median, p90, p99, max } = time;
  if ([min, median, p90, p99, max].some((value) => value === undefined)) return null;
  return {
    min: place(min!, scale),
    median: place(median!, scale),
    p90: place(p90!, scale),
    p99: place(p99!, scale),
    max: place(max!, scale),
  };
}
