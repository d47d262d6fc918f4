// SPDX-License-Identifier: Apache-2.0
// Figures of memory as charts and words.
import type { MemoryUsage, Series, SeriesInfo, SeriesPicture } from "../../api/types";

export interface Line {
  x: number[];
  values: number[];
  low: number[];
  high: number[];
}

const KINDS: Record<string, string> = {
  device: "GPU memory",
  "device static": "GPU memory of modules",
  managed: "Managed memory",
  "managed static": "Managed memory of modules",
  pinned: "Pinned host memory",
  pageable: "Pageable host memory",
  array: "Arrays",
  unknown: "Memory of unknown kind",
};

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind.replaceAll("_", " ");
}

export function deviceName(device: number): string {
  return device < 0 ? "unknown GPU" : `GPU ${device}`;
}

export function lineOfPoints(points: Series["points"]): Line {
  return {
    x: points.map(([time]) => time),
    values: points.map(([, , mean]) => mean),
    low: points.map(([, min]) => min),
    high: points.map(([, , , max]) => max),
  };
}

// Columns; a step is what to add to the one before, and begins at its number times step_ns.
export function lineOfReadings({ step, step_ns, mean, min, max }: SeriesPicture): Line {
  let at = 0;
  const x = step.map((add) => (at += add) * step_ns);
  return { x, values: mean, low: min, high: max };
}

// The series of memory in use, and of which device each is.
export function usedSeries(series: SeriesInfo[]): { id: string; device: number }[] {
  return series
    .filter(({ kind, metric }) => kind === "device_metric" && metric === "memory_used_bytes")
    .map(({ id, device }) => ({ id, device: device ?? -1 }));
}

// Null where the log does not have it of all of them.
export function callTime(uses: MemoryUsage[]): number | null {
  let sum = 0;
  for (const { call_ns } of uses) {
    if (typeof call_ns !== "number") return null;
    sum += call_ns;
  }
  return sum;
}

// Why there is none.
export function noCallTime(uses: MemoryUsage[]): string | undefined {
  for (const { call_ns } of uses) if (typeof call_ns !== "number") return call_ns.unknown;
  return undefined;
}

// What was never given back, in words; null: everything was.
export function leftText({ end_bytes, end_allocations }: MemoryUsage): string | null {
  if (end_allocations === 0 && end_bytes === 0) return null;
  const what = end_allocations === 1 ? "allocation was" : "allocations were";
  return `${end_allocations.toLocaleString("en-US")} ${what} still there at the end`;
}
