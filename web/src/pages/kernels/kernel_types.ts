// SPDX-License-Identifier: Apache-2.0
// The members of the JSON report that pages about kernels show.
import type { Unknown } from "../../base/format";

export interface Statistics {
  count: number;
  total: number;
  min?: number;
  max?: number;
  mean?: number;
  median?: number;
  p90?: number;
  p99?: number;
}

export interface LaunchConfig {
  grid: [number, number, number];
  block: [number, number, number];
  cluster?: [number, number, number];
  registers: number | null;
  shared_static: number | null;
  shared_dynamic: number | null;
  local_per_thread: number | null;
  occupancy: number | null;
  occupancy_limit: string | null;
  occupancy_bound: string | null;
}

export interface Estimate {
  value: number;
  low: number;
  high: number;
  windows?: number;
  phases?: number;
}

export interface KernelGroup {
  label: string;
  full_name?: string;
  is_rest?: boolean;
  share: number;
  class?: string;
  config?: LaunchConfig;
  duration_ns: Statistics;
}

type Groups = KernelGroup[] | Unknown;

export interface KernelsSection {
  count: number;
  total_ns: number;
  by_name: Groups;
  by_config: Groups;
  by_class: Groups;
  by_scope: Groups;
  by_stream: Groups;
  by_device: Groups;
  by_line: Groups;
  by_api_call: Groups;
  by_op?: Groups;
  by_module?: Groups;
}

// From the index: there in a moment, whatever the size of the session.
export interface KernelList {
  is_complete: boolean;
  count: number;
  total_ns: number;
  names: number;
  by_name: KernelGroup[];
}

export interface DeviceFacts {
  device: number;
  name: string;
  compute_major?: number;
  compute_minor?: number;
  compute_units?: number;
  memory_bytes?: number;
  architecture?: string;
}

export interface StallShare {
  reason: string;
  meaning: string;
  samples: number;
  not_issued: number;
  share: Estimate;
}

export interface StalledKernel {
  label: string;
  full_name?: string;
  samples: number;
  share: Estimate;
  stalls: StallShare[];
}

export interface StallsSection {
  samples: number;
  windows: number;
  kernels: StalledKernel[];
}

export type StallCounts = Record<string, { samples: number; not_issued: number }>;

export interface CodePlace {
  file: string;
  line: number;
}

export interface CodeInstruction {
  offset: number;
  text: string;
  places: CodePlace[];
  ptx_line: number | null;
  target: number | null;
  live_registers: number | null;
  samples: number;
  stalls: StallCounts;
}

export interface CodeLine {
  file: string | null;
  line: number | null;
  source: string | null;
  samples: number;
  stalls: StallCounts;
  instructions: number[];
}

export interface CodeImage {
  module: string;
  hash: string;
  state: string;
  architecture: string | null;
  ambiguous: boolean;
  resources: Record<
    "registers" | "stack_bytes" | "shared_bytes" | "constant_bytes" | "local_bytes",
    number | null
  >;
  samples: number;
  samples_unlocated: number;
  lines: CodeLine[];
  instructions: CodeInstruction[];
  ptx?: string[];
}

export interface SourceText {
  path: string;
  language: string;
  first_line: number;
  newer: boolean;
  lines: string[];
}

export interface Missing {
  what: string;
  reason: string;
  remedy: string;
}

export interface KernelCode {
  name: string;
  function: string;
  launches: number;
  time_ns: number;
  samples: number;
  stalls: StallCounts;
  samples_without_code: number;
  missing: Missing[];
  images: CodeImage[];
  origins: {
    file: string;
    operators: string[];
    nodes: string[];
    places: { file: string; line: number; code: string }[];
  }[];
  sources: SourceText[];
}

// What a name is known by in addresses and requests: labels of the index can be the same for two.
export function kernelKey({ label, full_name }: { label: string; full_name?: string }): string {
  return full_name ?? label;
}
