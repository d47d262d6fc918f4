// SPDX-License-Identifier: Apache-2.0
// How many blocks fit on a multiprocessor. The analysis has the answer for what was launched; this
// is for what could be. Limits by compute capability are those of cuda::arch_traits in NVIDIA/cccl.

export interface Multiprocessor {
  threads: number;
  blocks: number;
  registers: number;
  sharedBytes: number;
  // Taken by the system from each block's shared memory.
  sharedReserved: number;
  sharedUnit: number;
}

export interface BlockNeeds {
  threads: number;
  registers: number;
  sharedBytes: number;
}

export type Resource = "warps" | "registers" | "shared" | "blocks";

export interface Occupancy {
  share: number;
  blocks: number;
  limit: Resource;
  // Blocks that each would allow; null: it does not limit.
  by: Record<Resource, number | null>;
}

const WARP = 32;
const REGISTER_UNIT = 256;
const SCHEDULERS = 4;
const KIB = 1024;

// Threads, blocks, KiB of shared memory.
const KNOWN: Record<string, [number, number, number]> = {
  "7.0": [2048, 32, 96],
  "7.5": [1024, 16, 64],
  "8.0": [2048, 32, 164],
  "8.6": [1536, 16, 100],
  "8.7": [1536, 16, 164],
  "8.9": [1536, 24, 100],
  "9.0": [2048, 32, 228],
  "10.0": [2048, 32, 228],
  "10.3": [2048, 32, 228],
  "12.0": [1536, 24, 100],
};

export function multiprocessorOf(
  major: number | undefined,
  minor: number | undefined,
): Multiprocessor | null {
  const known = KNOWN[`${major}.${minor}`];
  if (!known || major === undefined) return null;
  const [threads, blocks, shared] = known;
  return {
    threads,
    blocks,
    registers: 65_536,
    sharedBytes: shared * KIB,
    sharedReserved: major >= 8 ? KIB : 0,
    sharedUnit: major >= 8 ? 128 : 256,
  };
}

const roundUp = (value: number, to: number) => Math.ceil(value / to) * to;

export function occupancyOf(sm: Multiprocessor, needs: BlockNeeds): Occupancy {
  const warps = Math.max(Math.ceil(needs.threads / WARP), 1);
  const allWarps = sm.threads / WARP;
  let registers: number | null = null;
  if (needs.registers > 0) {
    const ofWarp = roundUp(needs.registers * WARP, REGISTER_UNIT);
    const ofScheduler = Math.floor(sm.registers / SCHEDULERS / ofWarp);
    registers = Math.floor((ofScheduler * SCHEDULERS) / warps);
  }
  const sharedBytes = roundUp(needs.sharedBytes + sm.sharedReserved, sm.sharedUnit);
  const by = {
    warps: Math.floor(allWarps / warps),
    registers,
    shared: sharedBytes > 0 ? Math.floor(sm.sharedBytes / sharedBytes) : null,
    blocks: sm.blocks,
  };
  let limit: Resource = "warps";
  for (const resource of ["registers", "shared", "blocks"] as const) {
    if ((by[resource] ?? Infinity) < (by[limit] ?? Infinity)) limit = resource;
  }
  const blocks = by[limit] ?? 0;
  return { share: (blocks * warps) / allWarps, blocks, limit, by };
}

export interface Step {
  needs: BlockNeeds;
  occupancy: Occupancy;
}

// The least change of the resource that limits after which more warps fit; null: none does.
export function nextStep(sm: Multiprocessor, needs: BlockNeeds): Step | null {
  const now = occupancyOf(sm, needs);
  const better = (changed: BlockNeeds): Step | null => {
    const occupancy = occupancyOf(sm, changed);
    return occupancy.share > now.share ? { needs: changed, occupancy } : null;
  };
  if (now.limit === "registers") {
    for (let registers = needs.registers - 1; registers >= 16; registers -= 1) {
      const step = better({ ...needs, registers });
      if (step) return step;
    }
  }
  if (now.limit === "shared") {
    const room = Math.floor(sm.sharedBytes / (now.blocks + 1) / sm.sharedUnit) * sm.sharedUnit;
    return better({ ...needs, sharedBytes: Math.max(room - sm.sharedReserved, 0) });
  }
  if (now.limit === "blocks" || now.limit === "warps") {
    for (let threads = roundUp(needs.threads, WARP); threads <= 1024; threads += WARP) {
      const step = better({ ...needs, threads });
      if (step) return step;
    }
    for (let threads = roundUp(needs.threads, WARP) - WARP; threads >= WARP; threads -= WARP) {
      const step = better({ ...needs, threads });
      if (step) return step;
    }
  }
  return null;
}

export const RESOURCE_WORDS: Record<Resource, string> = {
  warps: "Warps",
  registers: "Registers",
  shared: "Shared memory",
  blocks: "Blocks",
};

// The report's words for what bounds it, of every vendor, and CUDA's.
export function limitWords(limit: string | null | undefined): string {
  const words: Record<string, string> = {
    warps: "warps",
    waves: "warps",
    registers: "registers",
    shared: "shared memory",
    shared_memory: "shared memory",
    blocks: "blocks",
    groups: "blocks",
  };
  return limit ? (words[limit] ?? limit) : "";
}
