// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { multiprocessorOf, nextStep, occupancyOf } from "./occupancy";

const h200 = multiprocessorOf(9, 0)!;

describe("occupancy", () => {
  // As the driver answered on an H200.
  it("agrees with what was recorded", () => {
    const gather = occupancyOf(h200, { threads: 192, registers: 32, sharedBytes: 0 });
    expect(gather.by).toEqual({ warps: 10, registers: 10, shared: 228, blocks: 32 });
    expect(gather.share).toBe(0.9375);
    expect(gather.limit).toBe("warps");
    const work = occupancyOf(h200, { threads: 256, registers: 16, sharedBytes: 0 });
    expect(work.by).toEqual({ warps: 8, registers: 16, shared: 228, blocks: 32 });
    expect(work.share).toBe(1);
    const matmul = occupancyOf(h200, { threads: 384, registers: 168, sharedBytes: 0 });
    expect(matmul.by.registers).toBe(1);
    expect(matmul.share).toBe(0.1875);
  });
  it("finds the least change that lets more warps in", () => {
    const step = nextStep(h200, { threads: 384, registers: 168, sharedBytes: 0 });
    expect(step?.needs.registers).toBe(80);
    expect(step?.occupancy.blocks).toBe(2);
    const shared = nextStep(h200, { threads: 128, registers: 32, sharedBytes: 100 * 1024 });
    expect(shared?.occupancy.blocks).toBe(3);
    expect(shared?.needs.sharedBytes).toBe(75 * 1024);
    expect(nextStep(h200, { threads: 256, registers: 16, sharedBytes: 0 })).toBeNull();
    expect(nextStep(h200, { threads: 32, registers: 16, sharedBytes: 0 })?.needs.threads).toBe(64);
  });
  it("does not guess for a device that it does not know", () => {
    expect(multiprocessorOf(99, 0)).toBeNull();
    expect(multiprocessorOf(undefined, undefined)).toBeNull();
  });
});
