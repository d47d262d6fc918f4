// SPDX-License-Identifier: Apache-2.0
// Readings of GPUs and hosts: which belong into one chart, and what stands out.
import type { HealthMetric } from "../../api/types";
import { currentName, isAlarming, wordsOf } from "../../base/metrics";

export interface ChartGroup {
  title: string;
  metrics: string[];
  // What they are called beside the title.
  labels?: string[];
  isBinary?: boolean;
  // A counter, drawn as its growth in a second.
  isRate?: boolean;
}

export const GPU_CHARTS: ChartGroup[] = [
  { title: "Power", metrics: ["power_mw", "power_instant_mw"], labels: ["average", "now"] },
  {
    title: "Clocks",
    metrics: ["compute_clock_mhz", "memory_clock_mhz"],
    labels: ["compute", "memory"],
  },
  { title: "Use", metrics: ["gpu_util_pct", "memory_util_pct"], labels: ["GPU", "memory"] },
  {
    title: "Temperature",
    metrics: ["temperature_c", "memory_temperature_c"],
    labels: ["GPU", "memory"],
  },
  { title: "Memory in use", metrics: ["memory_used_bytes"], isBinary: true },
  {
    title: "PCIe",
    metrics: ["pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s"],
    labels: ["to the GPU", "from it"],
  },
  {
    title: "Links to other GPUs",
    metrics: ["link_rx_bytes", "link_tx_bytes"],
    labels: ["received", "sent"],
    isRate: true,
  },
  { title: "Fans", metrics: ["fan_speed_pct"] },
];
export const HOST_CHARTS: ChartGroup[] = [
  { title: "CPU", metrics: ["cpu_util_permille"] },
  { title: "CPU of the recorded process", metrics: ["process_cpu_permille"] },
  { title: "Memory", metrics: ["ram_used_bytes"], isBinary: true },
  { title: "Memory of the recorded process", metrics: ["process_rss_bytes"], isBinary: true },
  {
    title: "Network",
    metrics: ["network_rx_bytes_per_s", "network_tx_bytes_per_s"],
    labels: ["received", "sent"],
  },
  {
    title: "Disk",
    metrics: ["disk_read_bytes_per_s", "disk_write_bytes_per_s"],
    labels: ["read", "written"],
  },
  {
    title: "Load",
    metrics: ["load_1m_milli", "load_5m_milli", "load_15m_milli"],
    labels: ["1 min", "5 min", "15 min"],
  },
];

export function legendOf(group: ChartGroup, metric: string): string {
  return group.labels?.[group.metrics.indexOf(currentName(metric))] ?? wordsOf(metric);
}

// Readings of a group's chart. With many GPUs, only the first metric: a line for each is enough.
export function readingsOf(
  group: ChartGroup,
  all: HealthMetric[],
  devices: number,
): HealthMetric[] {
  const found = group.metrics
    .map((metric) => all.filter((reading) => currentName(reading.metric) === metric))
    .filter((readings) => readings.length > 0);
  return devices > 2 ? (found[0] ?? []) : found.flat();
}

// Readings that no chart is made for: those of another vendor, or of a later version.
const NEVER_DRAWN =
  /_count$|_bits$|^(memory|ram|swap)_|^remapped|^retired|_generation$|_lanes$|^performance_state$|^cpu_core|^energy|_clock_mhz$|^(en|de)coder|_limit_mw$|^link_active$/;

export function otherCharts(all: HealthMetric[]): ChartGroup[] {
  const drawn = new Set([...GPU_CHARTS, ...HOST_CHARTS].flatMap(({ metrics }) => metrics));
  const others = new Set(all.map(({ metric }) => currentName(metric)));
  return [...others]
    .filter((metric) => !drawn.has(metric) && !NEVER_DRAWN.test(metric))
    .map((metric) => ({ title: wordsOf(metric), metrics: [metric] }));
}

// The reason that held clocks back in most samples, and how many of them.
export function mainLimit(bitSamples: number[]): { bit: number; samples: number } | null {
  let main: { bit: number; samples: number } | null = null;
  bitSamples.forEach((samples, bit) => {
    if (samples > 0 && isAlarming(bit) && samples > (main?.samples ?? 0)) main = { bit, samples };
  });
  return main;
}

// Errors that a GPU counted, most of them since its driver was loaded.
export function errorsOf(all: HealthMetric[]): HealthMetric[] {
  const isError = /^ecc_|replay_count$|crc_error_count$|recovery_count$|^remapped|^retired/;
  return all.filter(
    ({ kind, metric }) => kind === "device_metric" && isError.test(currentName(metric)),
  );
}
