// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { DeviceLine, LaunchConfig, Multiprocessor } from "../../api/types";
import {
  limitedBy,
  limitWords,
  modelOf,
  nextStep,
  occupancyOf,
  runningBlocks,
  sharedBytesOf,
} from "./occupancy";

const h200: Multiprocessor = {
  threads: 2048,
  blocks: 32,
  registers: 65_536,
  shared_bytes: 233_472,
  shared_reserved_bytes: 1024,
  warp_threads: 32,
  schedulers: 4,
  register_unit: 256,
  shared_unit_bytes: 128,
};
const device: DeviceLine = {
  device: 0,
  vendor: "nvidia",
  name: "NVIDIA H200",
  multiprocessor: h200,
};
const { multiprocessor: _, ...newer } = { ...device, name: "Newer" };
// As an H200's driver and the log have it.
const gather: LaunchConfig = {
  grid: [10, 1, 1],
  block: [192, 1, 1],
  registers: 32,
  shared_static: 0,
  shared_dynamic: 0,
  local_per_thread: 0,
  local_total: 0,
  occupancy: 0.9375,
  occupancy_limit: "warps",
  occupancy_bound: "waves",
  occupancy_bounds: { waves: 10, registers: 10, shared_memory: 228, groups: 32 },
};

function why(config: LaunchConfig, devices: DeviceLine[]): string {
  const model = modelOf(config, devices);
  return "why" in model ? model.why : "";
}

describe("occupancy", () => {
  // As the driver answered on an H200.
  it("agrees with what was recorded", () => {
    const fits = occupancyOf(h200, { threads: 192, registers: 32, sharedBytes: 0 });
    expect(fits.by).toEqual(gather.occupancy_bounds);
    expect(fits.share).toBe(0.9375);
    expect(fits.limit).toBe("waves");
    const work = occupancyOf(h200, { threads: 256, registers: 16, sharedBytes: 0 });
    expect(work.by).toEqual({ waves: 8, registers: 16, shared_memory: 228, groups: 32 });
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
  it("calculates with the GPU that the recorded limits fit", () => {
    const small = { ...device, name: "Small", multiprocessor: { ...h200, threads: 1536 } };
    const model = modelOf(gather, [newer, small, device]);
    expect(model).toMatchObject({ device: "NVIDIA H200", needs: { threads: 192, registers: 32 } });
    const unrecorded = { ...gather, occupancy: null, occupancy_bounds: null };
    expect(modelOf(unrecorded, [device])).toMatchObject({ now: { blocks: 10 } });
  });
  it("says why it cannot", () => {
    expect(why(gather, [newer])).toContain("unknown for Newer");
    expect(why(gather, [])).toContain("unknown for this GPU");
    expect(why({ ...gather, registers: null }, [device])).toBe(
      "the log does not have its registers",
    );
    expect(why({ ...gather, block: null }, [device])).toBe("the log does not have its block size");
    const odd = { ...gather, occupancy_bounds: { ...gather.occupancy_bounds, registers: 9 } };
    expect(why(odd, [device])).toContain("differs");
    expect(why({ ...gather, occupancy: 0.5 }, [device])).toContain("differs");
  });
  it("does not take unknown shared memory for none", () => {
    const unknown = { ...gather, shared_static: null, shared_dynamic: null };
    expect(sharedBytesOf(unknown)).toBeNull();
    expect(sharedBytesOf({ ...unknown, shared_static: 64 })).toBe(64);
    expect(why(unknown, [device])).toBe("the log does not have its shared memory");
    expect(why({ ...unknown, registers: null }, [device])).toBe(
      "the log does not have its registers and shared memory",
    );
  });
  it("says how many blocks run, and what limits them where something does", () => {
    expect(runningBlocks(gather.occupancy_bounds!)).toBe(10);
    expect(runningBlocks({ waves: 16, registers: null, groups: 32 })).toBe(16);
    expect(limitedBy({ occupancy: 0.5, occupancy_bound: "registers" })).toBe("by registers");
    expect(limitedBy({ occupancy: 1, occupancy_bound: "waves" })).toBe("");
  });
  it("names limits as people do", () => {
    expect(["waves", "groups", "shared_memory", "lds", null].map(limitWords)).toEqual([
      "warps",
      "blocks",
      "shared memory",
      "lds",
      "",
    ]);
  });
});
