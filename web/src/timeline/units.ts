// SPDX-License-Identifier: Apache-2.0
// Readings by the names that metrics have: "power_mw" is power, in watts.
import { bytes, bytesPerSecond, plain } from "../base/format";
import { namedInk } from "./palette";

interface Unit {
  suffix: string;
  // What a reading is multiplied with, and what it is called then.
  factor: number;
  show: (value: number) => string;
}

function shown(unit: string): (value: number) => string {
  return (value) => `${plain(value)} ${unit}`;
}

const UNITS: readonly Unit[] = [
  { suffix: "_bytes_per_s", factor: 1, show: bytesPerSecond },
  { suffix: "_bytes", factor: 1, show: bytes },
  { suffix: "_mw", factor: 1e-3, show: shown("W") },
  { suffix: "_mj", factor: 1e-3, show: shown("J") },
  { suffix: "_mhz", factor: 1, show: shown("MHz") },
  { suffix: "_pct", factor: 1, show: (value) => `${plain(value)}%` },
  { suffix: "_permille", factor: 0.1, show: (value) => `${plain(value)}%` },
  { suffix: "_c", factor: 1, show: shown("°C") },
  { suffix: "_milli", factor: 1e-3, show: (value) => plain(value) },
  { suffix: "_count", factor: 1, show: (value) => plain(value) },
  { suffix: "_lanes", factor: 1, show: shown("lanes") },
  { suffix: "_bits", factor: 1, show: (value) => `0x${Math.round(value).toString(16)}` },
];

const WORDS: Record<string, string> = {
  sm: "SM",
  gpu: "GPU",
  cpu: "CPU",
  ram: "RAM",
  rss: "RSS",
  ecc: "ECC",
  pcie: "PCIe",
  rx: "in",
  tx: "out",
  util: "busy",
};

function unitOf(metric: string): Unit | undefined {
  return UNITS.find(({ suffix }) => metric.endsWith(suffix));
}

export function metricLabel(metric: string, index: number, isCounter: boolean): string {
  if (isCounter) return metric;
  const unit = unitOf(metric);
  const name = unit ? metric.slice(0, -unit.suffix.length) : metric;
  const words = name.split("_").map((word) => WORDS[word] ?? word);
  return words.join(" ") + (index > 0 || metric.startsWith("cpu_core") ? ` ${index}` : "");
}

export function metricValue(metric: string, value: number, isCounter: boolean): string {
  const unit = isCounter ? undefined : unitOf(metric);
  return unit ? unit.show(value * unit.factor) : plain(value);
}

// One hue for each kind of quantity.
export function metricInk(metric: string): number {
  if (/power|energy/.test(metric)) return namedInk("elementwise");
  if (/clock/.test(metric)) return namedInk("reduction");
  if (/temperature/.test(metric)) return namedInk("softmax");
  if (/bytes_per_s/.test(metric)) return namedInk("gather");
  if (/memory_used|memory_free|bytes/.test(metric)) return namedInk("norm");
  if (/util|permille/.test(metric)) return namedInk("matmul");
  return namedInk("copy");
}

// Shares and amounts start at zero; of others, changes matter.
export function startsAtZero(metric: string): boolean {
  return /_pct$|_permille$|_bytes|_count$|_per_s$|power/.test(metric);
}

// What people look at first, in that order; the rest is one click away.
const MAIN = [
  "power_mw",
  "sm_clock_mhz",
  "gpu_util_pct",
  "memory_used_bytes",
  "temperature_c",
  "cpu_util_permille",
  "process_rss_bytes",
];

export function mainRank(metric: string): number {
  const at = MAIN.indexOf(metric);
  return at < 0 ? MAIN.length : at;
}

export function isMain(metric: string): boolean {
  return MAIN.includes(metric);
}
