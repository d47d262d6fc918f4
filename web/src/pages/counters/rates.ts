// SPDX-License-Identifier: Apache-2.0
// Counters that the program keeps, and those of kernels that an engine counted.
import type { CountedRange, Counter, SampledCounter, SampledKernel } from "../../api/types";

export interface RateColumns {
  x: number[];
  mean: number[];
  low: number[];
  high: number[];
}

// A point is the start of its part of the time; what it says holds for all of that.
export function rateColumns({ rate }: Counter): RateColumns {
  return seriesColumns(rate);
}

export function seriesColumns({ step_ns, points }: SampledCounter["series"]): RateColumns {
  return {
    x: points.map(([time]) => time + step_ns / 2),
    low: points.map(([, low]) => low),
    mean: points.map(([, , mean]) => mean),
    high: points.map(([, , , high]) => high),
  };
}

export interface KernelCounter {
  kernel: string;
  fullName: string;
  counter: string;
  value: number;
}

// One row for each kernel and counter.
export function kernelCounters(samples: SampledKernel[]): KernelCounter[] {
  return samples.flatMap(({ label, full_name, counters }) =>
    Object.entries(counters).map(([counter, value]) => ({
      kernel: label,
      fullName: full_name,
      counter,
      value,
    })),
  );
}

export interface RangeCounter {
  range: string;
  device: number;
  metric: string;
  mean: number;
  min: number;
  max: number;
  count: number;
}

// One row for each range and metric.
export function rangeCounters(ranges: CountedRange[]): RangeCounter[] {
  return ranges.flatMap(({ label, device, counters }) =>
    counters.flatMap(({ metric, values: { count, mean, min, max } }) =>
      mean === undefined || min === undefined || max === undefined
        ? []
        : [{ range: label, device, metric, mean, min, max, count }],
    ),
  );
}
