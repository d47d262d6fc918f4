// SPDX-License-Identifier: Apache-2.0
// Metrics by the names that the log has: "power_mw" is power, in watts.
import { bytes, bytesPerSecond, count, plain } from "./format";

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
  memory_total_bytes: "GPU memory, total",
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
  process_cpu_permille: "process CPU",
  process_rss_bytes: "process memory",
  ram_used_bytes: "memory used",
  ram_available_bytes: "memory available",
  ram_total_bytes: "memory, total",
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

// Of hardware counters, whose names are the vendor's: "dram__bytes.sum.per_second".
export function hardwareValue(metric: string, value: number): string {
  if (/\.pct(_|$)/.test(metric)) return `${plain(value, 3)}%`;
  if (/bytes.*per_second$/.test(metric)) return bytesPerSecond(value);
  // Per cycle, per sector or as a share of what is possible they are fractions, and no sizes.
  if (/bytes\w*\.(sum|avg|min|max)$/.test(metric) && value >= 1024) return bytes(value);
  return plain(value, 4);
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
