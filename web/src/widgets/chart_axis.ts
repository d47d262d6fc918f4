// SPDX-License-Identifier: Apache-2.0
// Axes of charts: steps that people count in, and labels that are as long as they need to be.
import { CLOCK_FROM_NS, clockTime } from "../base/format";

const SECOND = 1e9;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const TIME_UNITS: [number, string][] = [
  [MINUTE, "min"],
  [SECOND, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

function decimalSteps(least: number, most: number): number[] {
  const steps: number[] = [];
  for (let power = least; power <= most; power *= 10) steps.push(power, 2 * power, 5 * power);
  return steps;
}

export const TIME_STEPS = [
  ...decimalSteps(1, SECOND),
  ...[10, 15, 30].map((s) => s * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((m) => m * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 192, 384].map((h) => h * HOUR),
];

export const WHOLE_STEPS = decimalSteps(1, 1e12);
// With quarters: of 0 to 900 they are three ticks, where fifths are too many and halves one.
export const VALUE_STEPS = decimalSteps(1e-6, 1e15).flatMap((step) =>
  /^2(e|0*$)/.test(String(step)) ? [step, step * 1.25] : [step],
);
// Sizes in KiB and MiB have round ticks only at powers of two.
export const BINARY_STEPS = Array.from({ length: 60 }, (_, power) => 2 ** power);

function decimalsOf(step: number, unit: number): number {
  return Math.min(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)), 9);
}

// All ticks of an axis in the unit of its far end, or as on a clock, with the decimals that the step
// between them needs.
export function timeLabels(ticks: number[], step: number): string[] {
  const far = Math.max(...ticks.map(Math.abs), step);
  if (far >= CLOCK_FROM_NS) {
    const places = decimalsOf(step, SECOND);
    return ticks.map((tick) => clockTime(tick, places));
  }
  // A minute and a half reads better as "90 s".
  const unit = TIME_UNITS.find(([size, name]) => far >= (name === "min" ? 3 * size : size));
  const [size, name] = unit ?? ([1, "ns"] as const);
  const decimals = decimalsOf(step, size);
  return ticks.map((tick) => `${(tick / size).toFixed(decimals)} ${name}`);
}

// Where a value stands, or the one next to it, in an ascending list; -1: the list is empty.
export function nearestIndex(ascending: number[], value: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as number) <= value) low = middle;
    else high = middle;
  }
  if (high < 0) return -1;
  return value - (ascending[low] as number) <= (ascending[high] as number) - value ? low : high;
}

export function extent(values: (number | null)[]): { min: number; max: number } | null {
  let min = Infinity;
  let max = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return min <= max ? { min, max } : null;
}

// A chart in one sentence, for those who do not see it.
export function summary(
  title: string,
  span: string,
  series: { label: string; values: (number | null)[] }[],
  format: (value: number) => string,
): string {
  const parts = series.map(({ label, values }) => {
    const range = extent(values);
    if (range === null) return `${label}: no values`;
    const isFlat = range.min === range.max;
    return `${label}: ${isFlat ? format(range.min) : `${format(range.min)} to ${format(range.max)}`}`;
  });
  return `${title}, ${span}. ${parts.join("; ")}.`;
}
