// SPDX-License-Identifier: Apache-2.0
// Readings of GPUs and hosts: what metrics are called, their units, and which belong into one chart.
import type { HealthMetric } from "../../api/types";
import { bytes, bytesPerSecond, count, plain } from "../../base/format";

// Logs of earlier versions have NVIDIA's names.
export function currentName(metric: string): string {
  if (metric === "sm_clock_mhz") return "compute_clock_mhz";
  if (metric === "throttle_reasons_bits") return "clock_limits_bits";
  return metric.replace(/^nvlink_/, "link_");
}

const WORDS: Record<string, string> = {
  gpu_util_pct: "GPU use",
  memory_util_pct: "memory use",
  memory_used_bytes: "GPU memory used",
  memory_free_bytes: "GPU memory free",
  memory_total_bytes: "GPU memory in all",
  temperature_c: "temperature",
  memory_temperature_c: "memory temperature",
  power_mw: "power, average",
  power_instant_mw: "power, now",
  power_limit_mw: "power limit",
  compute_clock_mhz: "compute clock",
  clock_limits_bits: "reasons for lower clocks",
  energy_mj: "energy",
  pcie_rx_bytes_per_s: "PCIe to the GPU",
  pcie_tx_bytes_per_s: "PCIe from the GPU",
  pcie_width_lanes: "PCIe lanes",
  pcie_generation: "PCIe generation",
  link_rx_bytes: "links, received",
  link_tx_bytes: "links, sent",
  cpu_util_permille: "CPU use",
  cpu_core_util_permille: "CPU core use",
  process_cpu_permille: "CPU of the recorded process",
  process_rss_bytes: "memory of the recorded process",
  ram_used_bytes: "memory used",
  ram_available_bytes: "memory available",
  ram_total_bytes: "memory in all",
  load_1m_milli: "load, 1 min",
  load_5m_milli: "load, 5 min",
  load_15m_milli: "load, 15 min",
  network_rx_bytes_per_s: "network, received",
  network_tx_bytes_per_s: "network, sent",
  disk_read_bytes_per_s: "disk, read",
  disk_write_bytes_per_s: "disk, written",
};
const SUFFIX = /_(mw|c|mhz|bytes_per_s|bytes|pct|permille|milli|mj|count|bits|lanes)$/;

export function wordsOf(metric: string): string {
  const name = currentName(metric);
  const known = WORDS[name];
  if (known !== undefined) return known;
  return name
    .replace(SUFFIX, "")
    .replaceAll("_", " ")
    .replace(/\becc\b/, "ECC")
    .replace(/\bpcie\b/, "PCIe");
}

function energy(millijoules: number): string {
  return millijoules >= 1e6 ? `${plain(millijoules / 1e6)} kJ` : `${plain(millijoules / 1e3)} J`;
}

const FORMATS: Record<string, (value: number) => string> = {
  mw: (value) => `${plain(value / 1000, 3)} W`,
  c: (value) => `${plain(value, 3)} °C`,
  mhz: (value) => `${count(Math.round(value))} MHz`,
  bytes_per_s: bytesPerSecond,
  bytes,
  pct: (value) => `${plain(value, 3)}%`,
  permille: (value) => `${plain(value / 10, 3)}%`,
  milli: (value) => plain(value / 1000, 3),
  mj: energy,
  lanes: (value) => `${plain(value)} lanes`,
};

// The unit is the end of the name.
export function formatOf(metric: string): (value: number) => string {
  if (metric === "performance_state") return (value) => `P${plain(value)}`;
  if (currentName(metric) === "clock_limits_bits")
    return (value) => limitsOf(value).join(", ") || "none";
  const suffix = SUFFIX.exec(metric)?.[1];
  return FORMATS[suffix ?? ""] ?? ((value) => plain(value));
}

const LIMITS = [
  "the GPU is idle",
  "application clocks are set",
  "software power cap",
  "hardware slowdown",
  "sync boost",
  "software thermal slowdown",
  "hardware thermal slowdown",
  "hardware power brake",
  "display clocks are set",
];
// Idle GPUs and clocks that somebody set are no cause for alarm.
const CALM = new Set([0, 1, 4, 8]);

export function limitName(bit: number): string {
  return LIMITS[bit] ?? `reason ${bit}`;
}

export function isAlarming(bit: number): boolean {
  return !CALM.has(bit);
}

// Bits beyond 31 are a vendor's own and have no name.
export function bitsOf(value: number): number[] {
  const bits: number[] = [];
  for (let bit = 0; bit < 53; ++bit) {
    if (Math.floor(value / 2 ** bit) % 2 === 1) bits.push(bit);
  }
  return bits;
}

export function limitsOf(value: number): string[] {
  return bitsOf(value).map(limitName);
}

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
