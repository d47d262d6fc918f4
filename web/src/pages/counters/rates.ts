// SPDX-License-Identifier: Apache-2.0
// Counters that the program keeps, and those of kernels that an engine counted.
import type { Counter, SampledKernel } from "../../api/types";

export interface RateColumns {
  x: number[];
  mean: number[];
  low: number[];
  high: number[];
}

// A point is the start of its part of the time; what it says holds for all of that.
export function rateColumns({ rate: { step_ns, points } }: Counter): RateColumns {
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
