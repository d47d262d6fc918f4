// SPDX-License-Identifier: Apache-2.0
// The members of the JSON report that the overview shows.
import type { Stats } from "../../api/types";
import type { Unknown } from "../../base/format";

export type { Evidence, Insight } from "../../api/types";

export interface LedgerNumbers {
  launches_seen?: number;
  kernel_records?: number;
  callback_ns?: number;
  vendor_overhead_ns?: number;
  collector_cpu_ns?: number;
  activity_buffers?: number;
  activity_bytes?: number;
  raw_bytes?: number;
  dropped?: Record<string, number>;
  rows?: Record<string, number>;
  [other: string]: unknown;
}

export interface Ledger {
  verdict: string;
  meaning: string;
  rows_read: Record<string, number>;
  numbers: LedgerNumbers | null;
  problem_count: number;
  problems: { text?: string; file?: string }[];
}

export interface Coverage {
  is_budgeted: boolean;
  budget_ppm: number | null;
  phases: number;
  covered_ns: number;
  whole_ns: number;
  share: number;
  engines: {
    engine: string;
    phases: number;
    windows: number;
    window_ns: number;
    cost_ns: number | null;
    measure: string | null;
  }[];
}

export interface Capability {
  feature: string;
  asked: string;
  got: string;
  as_asked: boolean;
  reason: string;
  detail: string;
  hint: string;
}

export interface SessionFacts {
  duration_ns: number | null;
  engine: string;
}

export interface GpuTimeDevice {
  device: number;
  name: string;
  busy_ns: number | Unknown;
  busy_share: number | Unknown;
  recorded_ns: number | Unknown;
  before_ns?: number | Unknown;
  after_ns?: number | Unknown;
  idle?: { count: number; total_ns: number; short_ns: number } | Unknown;
  busy_series?: { step_ns: number; points: [number, number, number, number][] } | Unknown;
}

export interface GpuTime {
  recorded_ns: number | Unknown;
  devices: GpuTimeDevice[] | Unknown;
  energy_joules: number | Unknown;
  caveats: string[];
}

export interface Iterations {
  source: string;
  label: string;
  warmups: number;
  duration_ns: Stats;
}

export interface MemoryUse {
  device: number;
  kind: string;
  peak_bytes: number;
}

export interface HealthAnswer {
  devices: { device: number; memory_bytes?: number }[];
  metrics: {
    kind: string;
    device?: number;
    metric: string;
    values: { count: number; min: number; max: number; mean: number };
  }[];
}
