// SPDX-License-Identifier: Apache-2.0
// Where a ruler has its marks, and what they say: every nanosecond that tells them apart. From ten
// minutes on they are told as on a clock.
import { CLOCK_FROM_NS, clockTime } from "../base/format";
import { type View, spanOf, xOf } from "./view";

export interface Tick {
  time: number;
  x: number;
  label: string;
}

const UNITS: readonly [number, string, number][] = [
  [1e9, "s", 9],
  [1e6, "ms", 6],
  [1e3, "µs", 3],
  [1, "ns", 0],
];

const MINUTE = 60e9;
const HOUR = 60 * MINUTE;
const CLOCK_STEPS = [
  ...[10e9, 15e9, 30e9],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12, 24].map((hours) => hours * HOUR),
];

// 1, 2 or 5 times a power of ten, and never a part of a nanosecond; above five seconds, what a clock
// has: of minutes, hours and days.
export function tickStep(least: number): number {
  if (least <= 1) return 1;
  if (least > 5e9) {
    const step = CLOCK_STEPS.find((size) => size >= least * (1 - 1e-9));
    return step ?? 24 * HOUR * tickStep(least / (24 * HOUR));
  }
  const power = Math.pow(10, Math.floor(Math.log10(least)));
  for (const factor of [1, 2, 5]) {
    if (power * factor >= least * (1 - 1e-9)) return power * factor;
  }
  return power * 10;
}

// "104.512 386 ms": digits in groups, as many as tell two marks apart.
export function tickLabel(time: number, step: number, largest: number): string {
  if (largest >= CLOCK_FROM_NS) {
    let places = 0;
    while (places < 9 && (step * 10 ** places) % 1e9 !== 0) ++places;
    return clockTime(time, places);
  }
  const [factor, unit, places] = UNITS.find(([size]) => largest >= size) ?? UNITS[3]!;
  const sign = time < 0 ? "−" : "";
  const size = Math.abs(time);
  const whole = Math.floor(size / factor);
  let decimals = 0;
  while (decimals < places && (step * Math.pow(10, decimals)) % factor !== 0) ++decimals;
  const head = sign + whole.toLocaleString("en-US");
  if (decimals === 0) return `${head} ${unit}`;
  const rest = String(Math.round(size - whole * factor)).padStart(places, "0");
  const groups = rest.slice(0, decimals).match(/.{1,3}/g) ?? [];
  return `${head}.${groups.join(" ")} ${unit}`;
}

// `charWidth`: of a digit, so that labels do not touch.
export function ticks(view: View, width: number, charWidth: number): Tick[] {
  const largest = Math.max(Math.abs(view.from), Math.abs(view.to));
  let step = tickStep((spanOf(view) / width) * charWidth * 8);
  // Longer labels need a longer step, which may make them shorter again.
  for (let i = 0; i < 6; ++i) {
    const room = (tickLabel(largest, step, largest).length + 3) * charWidth;
    const least = (spanOf(view) / width) * room;
    if (step >= least) break;
    step = tickStep(Math.max(least, step * 1.01));
  }
  const result: Tick[] = [];
  const first = Math.ceil(view.from / step);
  const last = Math.floor(view.to / step);
  for (let i = first; i <= last; ++i) {
    const time = i * step;
    result.push({ time, x: xOf(view, width, time), label: tickLabel(time, step, largest) });
  }
  return result;
}
