// SPDX-License-Identifier: Apache-2.0
// Steps of a run: which are unusual, and whether the GPU or the host made them so.
import type { Iteration, Iterations, Stats } from "../../api/types";

export type StepKind = "usual" | "warm-up" | "outlier" | "cut";

export interface Step extends Iteration {
  // Counted from 1, as people do.
  number: number;
  duration_ns: number;
  kind: StepKind;
}

// Three times as far above the median as nine of ten steps are; less than that is how steps vary.
// Where all but a few take the same time, a twentieth of the median stands for that.
export function outlierLimit({ median, p90 }: Stats): number | null {
  if (median === undefined || p90 === undefined) return null;
  return median + 3 * Math.max(p90 - median, median / 20);
}

export function stepsOf({ list, duration_ns }: Pick<Iterations, "list" | "duration_ns">): Step[] {
  const limit = outlierLimit(duration_ns);
  return list.map((iteration, index) => {
    const duration = iteration.end_ns - iteration.start_ns;
    const isOutlier = limit !== null && duration > limit;
    return {
      ...iteration,
      number: index + 1,
      duration_ns: duration,
      kind: iteration.is_cut
        ? "cut"
        : iteration.is_warmup
          ? "warm-up"
          : isOutlier
            ? "outlier"
            : "usual",
    };
  });
}

// Why a step took longer than the median one, as far as its kernels tell.
export function reasonOf(step: Step, medianNs: number, medianKernelNs: number | null): string {
  if (step.kernel_ns === null || medianKernelNs === null) return "";
  const extra = step.duration_ns - medianNs;
  const inKernels = step.kernel_ns - medianKernelNs;
  if (extra <= 0) return "";
  if (inKernels >= 0.6 * extra) return "its kernels took longer";
  if (inKernels <= 0.2 * extra) return "its kernels took no longer: the time passed between them";
  return "its kernels took longer, and so did the time between them";
}

// The share of a step in which none of its kernels ran. Overlapping kernels can only make it seem less.
export function idleShare({ duration_ns, kernel_ns, kind }: Step): number | null {
  if (kernel_ns === null || duration_ns <= 0 || kind === "cut") return null;
  return Math.max(0, 1 - kernel_ns / duration_ns);
}

// Where the axis of step times ends: steps that take many times as long as the others are cut off,
// or nobody would see how the others differ. Null: all of them fit.
export function chartCeiling(steps: Step[], { p99, median }: Stats): number | null {
  const usual = steps.filter(({ kind }) => kind === "usual" || kind === "outlier");
  const top = usual.reduce((most, { duration_ns }) => Math.max(most, duration_ns), p99 ?? 0);
  const ceiling = Math.min(top, 4 * (median ?? top)) * 1.15;
  return steps.some(({ duration_ns, kind }) => kind !== "cut" && duration_ns > ceiling)
    ? ceiling
    : null;
}
