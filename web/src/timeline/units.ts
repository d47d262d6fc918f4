// SPDX-License-Identifier: Apache-2.0
// How readings are shown on tracks.
import { plain } from "../base/format";
import { currentName, formatOf, hardwareValue, wordsOf } from "../base/metrics";
import { namedInk } from "./palette";
import type { SeriesInfo } from "./types";

type Kind = SeriesInfo["kind"];

export function metricLabel(metric: string, index: number, kind: Kind): string {
  if (kind === "counter" || kind === "pm_sample") return metric;
  return wordsOf(metric) + (index > 0 || metric.startsWith("cpu_core") ? ` ${index}` : "");
}

export function metricValue(metric: string, value: number, kind: Kind): string {
  if (kind === "counter") return plain(value);
  return kind === "pm_sample" ? hardwareValue(metric, value) : formatOf(metric)(value);
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

// Shares and amounts start at zero, as do hardware counters ("unit__what"); of others, changes matter.
export function startsAtZero(metric: string): boolean {
  return /__|_pct$|_permille$|_bytes|_count$|_per_s$|power/.test(metric);
}

// What people look at first, in that order; the rest is one click away.
const MAIN = [
  "power_mw",
  "compute_clock_mhz",
  "gpu_util_pct",
  "memory_used_bytes",
  "temperature_c",
  "cpu_util_permille",
  "process_rss_bytes",
];

export function mainRank(metric: string): number {
  const at = MAIN.indexOf(currentName(metric));
  return at < 0 ? MAIN.length : at;
}

export function isMain(metric: string): boolean {
  return MAIN.includes(currentName(metric));
}
