// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { CodeImage, InstructionCounts } from "../../api/types";
import { addCounts, barOf, countWords, figureOf, heatOf, heatsOf } from "./heat";

const counts = (warps: number, sectors = 0, ideal = 0): InstructionCounts => ({
  warps,
  threads: warps * 16,
  threads_predicated_on: warps * 8,
  sectors,
  sectors_ideal: ideal,
  shared_passes: 0,
  shared_passes_ideal: 0,
  local_sectors: 0,
});
const row = (samples: number, of: InstructionCounts | null) => ({
  samples,
  stack: samples > 0 ? [{ reason: "barrier", samples }] : [],
  counts: of,
});

describe("heat", () => {
  it("is what was recorded, and only that can be chosen", () => {
    const image = (samples: number, of: InstructionCounts | null) =>
      ({ samples, instructions: [{ counts: of }], counted_lines: [] }) as unknown as CodeImage;
    expect(heatsOf(image(5, null)).map(({ by }) => by)).toEqual(["stalls"]);
    expect(heatsOf(image(0, counts(2, 4, 1))).map(({ by }) => by)).toEqual(["executed", "sectors"]);
    expect(heatsOf(image(0, null))).toEqual([]);
    expect(heatOf(row(3, null), "sectors")).toBe(0);
    expect(heatOf(row(3, counts(2, 4)), "sectors")).toBe(4);
  });
  it("shows what would do apart from what is beyond it", () => {
    expect(barOf(row(0, counts(9, 40, 10)), "sectors", 80)).toEqual([
      { share: 0.125, color: "var(--ink3)" },
      { share: 0.375, color: "var(--warn)" },
    ]);
    expect(barOf(row(0, counts(20)), "executed", 80)).toEqual([
      { share: 0.25, color: "var(--ink3)" },
    ]);
    expect(barOf(row(0, null), "executed", 0)).toEqual([]);
    expect(barOf(row(5, null), "stalls", 10)[0]?.share).toBe(0.5);
  });
  it("says figures that fit, and all of them in words", () => {
    expect(figureOf(row(0, counts(1_234_567, 40, 10)), "sectors")).toBe("40 ×4");
    expect(figureOf(row(0, counts(1_234_567)), "executed")).toBe("1.23M");
    expect(figureOf(row(0, counts(2)), "stalls")).toBe("");
    expect(countWords(counts(1000, 40, 10))).toEqual([
      "executed by 1,000 warps, 16 of 32 threads active, 8 not switched off",
      "40 sectors of global memory, 10 would do",
    ]);
    expect(countWords(null)).toEqual([]);
  });
  it("adds up, and nothing to something is something", () => {
    expect(addCounts(counts(1, 2, 3), counts(10, 20, 30))).toEqual(counts(11, 22, 33));
    expect(addCounts(null, counts(1))).toEqual(counts(1));
    expect(addCounts(null, null)).toBeNull();
  });
});
