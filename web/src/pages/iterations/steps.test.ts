// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { chartCeiling, idleShare, outlierLimit, reasonOf, type Step, stepsOf } from "./steps";

function iteration(start: number, length: number, more = {}) {
  const kernels = { kernels: 2, kernel_ns: 60 };
  return {
    start_ns: start,
    end_ns: start + length,
    is_warmup: false,
    is_cut: false,
    ...kernels,
    ...more,
  };
}
const STATS = { count: 4, total: 0, median: 100, p90: 110, p99: 400 };
const STEPS = stepsOf({
  duration_ns: STATS,
  list: [
    iteration(0, 5000, { is_warmup: true }),
    iteration(5000, 100),
    iteration(5100, 131),
    iteration(5300, 129),
    iteration(5500, 900, { is_cut: true }),
  ],
});

describe("steps", () => {
  it("are outliers only where they stand out", () => {
    expect(outlierLimit(STATS)).toBe(130);
    expect(STEPS.map(({ kind }) => kind)).toEqual(["warm-up", "usual", "outlier", "usual", "cut"]);
  });
  it("that hardly differ have no outliers", () => {
    expect(outlierLimit({ count: 9, total: 0, median: 100, p90: 100 })).toBe(115);
    expect(outlierLimit({ count: 0, total: 0 })).toBeNull();
  });
  it("count from one", () => {
    expect(STEPS[0]?.number).toBe(1);
  });
  it("are idle where no kernel ran, and unknown where nobody knows", () => {
    expect(idleShare(STEPS[1] as Step)).toBeCloseTo(0.4);
    expect(idleShare({ ...(STEPS[1] as Step), kernel_ns: 150 })).toBe(0);
    expect(idleShare({ ...(STEPS[1] as Step), kernel_ns: null })).toBeNull();
    expect(idleShare(STEPS[4] as Step)).toBeNull();
  });
  it("say whether the GPU took longer", () => {
    const slow = { ...(STEPS[1] as Step), duration_ns: 200 };
    expect(reasonOf({ ...slow, kernel_ns: 60 }, 100, 60)).toContain("between");
    expect(reasonOf({ ...slow, kernel_ns: 155 }, 100, 60)).toBe("its kernels took longer");
    expect(reasonOf({ ...slow, kernel_ns: 100 }, 100, 60)).toContain("and so did");
    expect(reasonOf({ ...slow, kernel_ns: null }, 100, 60)).toBe("");
  });
  it("that are far too long do not hide the others", () => {
    expect(chartCeiling(STEPS, STATS)).toBeCloseTo(1.15 * 400);
    expect(chartCeiling(STEPS.slice(1, 4), STATS)).toBeNull();
  });
  it("may be half a million", () => {
    const many = Array.from({ length: 500_000 }, () => STEPS[1] as Step);
    expect(chartCeiling([...many, STEPS[0] as Step], { ...STATS, p99: 100 })).toBeCloseTo(115);
  });
});
