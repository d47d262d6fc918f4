// SPDX-License-Identifier: Apache-2.0
// How many blocks fit on a multiprocessor. The log has the answer for what was launched; this is for
// what could be. What a multiprocessor has comes with the report.
import type { DeviceLine, LaunchConfig, Multiprocessor } from "../../api/types";
import { threadsOf } from "./groups";

export interface BlockNeeds {
  threads: number;
  registers: number;
  sharedBytes: number;
}

// As the log names what bounds blocks on GPUs of every vendor.
export const RESOURCES = ["registers", "shared_memory", "waves", "groups"] as const;
export type Resource = (typeof RESOURCES)[number];

export interface Occupancy {
  share: number;
  blocks: number;
  limit: Resource;
  // Blocks that each would allow; null: it does not limit.
  by: Record<Resource, number | null>;
}

const roundUp = (value: number, to: number) => Math.ceil(value / to) * to;

export function occupancyOf(sm: Multiprocessor, needs: BlockNeeds): Occupancy {
  const warps = Math.max(Math.ceil(needs.threads / sm.warp_threads), 1);
  const allWarps = Math.floor(sm.threads / sm.warp_threads);
  let registers: number | null = null;
  if (needs.registers > 0) {
    const ofWarp = roundUp(needs.registers * sm.warp_threads, sm.register_unit);
    const ofScheduler = Math.floor(sm.registers / sm.schedulers / ofWarp);
    registers = Math.floor((ofScheduler * sm.schedulers) / warps);
  }
  const sharedBytes = roundUp(needs.sharedBytes + sm.shared_reserved_bytes, sm.shared_unit_bytes);
  const by = {
    waves: Math.floor(allWarps / warps),
    registers,
    shared_memory: sharedBytes > 0 ? Math.floor(sm.shared_bytes / sharedBytes) : null,
    groups: sm.blocks,
  };
  let limit: Resource = "waves";
  for (const resource of ["registers", "shared_memory", "groups"] as const) {
    if ((by[resource] ?? Infinity) < (by[limit] ?? Infinity)) limit = resource;
  }
  const blocks = by[limit] ?? 0;
  return { share: (blocks * warps) / allWarps, blocks, limit, by };
}

// What a block has of shared memory; null: the log tells neither part.
export function sharedBytesOf({
  shared_static,
  shared_dynamic,
}: Pick<LaunchConfig, "shared_static" | "shared_dynamic">): number | null {
  if (shared_static === null && shared_dynamic === null) return null;
  return (shared_static ?? 0) + (shared_dynamic ?? 0);
}

// Of what the log does not tell the words; empty: it tells all that a model needs.
export function missingOf(config: LaunchConfig): string[] {
  return [
    threadsOf(config) === null ? "block size" : "",
    config.registers === null ? "registers" : "",
    sharedBytesOf(config) === null ? "shared memory" : "",
  ].filter(Boolean);
}

// null: the log does not tell all of it.
export function needsOf(config: LaunchConfig): BlockNeeds | null {
  const { registers } = config;
  const threads = threadsOf(config);
  const sharedBytes = sharedBytesOf(config);
  if (threads === null || registers === null || sharedBytes === null) return null;
  return { threads, registers, sharedBytes };
}

export interface Model {
  sm: Multiprocessor;
  device: string;
  needs: BlockNeeds;
  now: Occupancy;
}

function agrees({ share, by }: Occupancy, config: LaunchConfig): boolean {
  if (config.occupancy !== null && Math.abs(share - config.occupancy) >= 0.005) return false;
  return Object.entries(config.occupancy_bounds ?? {}).every(
    ([resource, blocks]) => (by as Record<string, number | null>)[resource] === blocks,
  );
}

function listWords(words: string[]): string {
  const last = words[words.length - 1] ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

// By what to calculate, or why that cannot be told. A model that does not tell what was recorded
// tells nothing about what could be.
export function modelOf(config: LaunchConfig, devices: DeviceLine[]): Model | { why: string } {
  const needs = needsOf(config);
  if (!needs) return { why: `the log does not have its ${listWords(missingOf(config))}` };
  const known = devices.flatMap(({ name, multiprocessor: sm }) =>
    sm ? [{ sm, device: name, needs, now: occupancyOf(sm, needs) }] : [],
  );
  if (known.length === 0) {
    const names = [...new Set(devices.map(({ name }) => name))].join(", ");
    return { why: `the limits of a multiprocessor are unknown for ${names || "this GPU"}` };
  }
  const model = known.find(({ now }) => agrees(now, config));
  return model ?? { why: "what was recorded differs from what is known of this GPU" };
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
  if (now.limit === "shared_memory") {
    const unit = sm.shared_unit_bytes;
    const room = Math.floor(sm.shared_bytes / (now.blocks + 1) / unit) * unit;
    return better({ ...needs, sharedBytes: Math.max(room - sm.shared_reserved_bytes, 0) });
  }
  if (now.limit === "groups" || now.limit === "waves") {
    const warp = sm.warp_threads;
    for (let threads = roundUp(needs.threads, warp); threads <= 1024; threads += warp) {
      const step = better({ ...needs, threads });
      if (step) return step;
    }
    for (let threads = roundUp(needs.threads, warp) - warp; threads >= warp; threads -= warp) {
      const step = better({ ...needs, threads });
      if (step) return step;
    }
  }
  return null;
}

// As many as the scarcest resource has room for.
export function runningBlocks(bounds: Record<string, number | null>): number {
  const rooms = Object.values(bounds).filter((room) => room !== null);
  return rooms.length === 0 ? 0 : Math.min(...rooms);
}

// "by registers", beside a share of less than all; empty: nothing limits it.
export function limitedBy({
  occupancy,
  occupancy_bound,
}: Pick<LaunchConfig, "occupancy" | "occupancy_bound">): string {
  if (occupancy === null || occupancy >= 1 || !occupancy_bound) return "";
  return `by ${limitWords(occupancy_bound)}`;
}

export const RESOURCE_WORDS: Record<Resource, string> = {
  waves: "Warps",
  registers: "Registers",
  shared_memory: "Shared memory",
  groups: "Blocks",
};

// The report's word for what bounds it, as people say it.
export function limitWords(limit: string | null | undefined): string {
  if (!limit) return "";
  return (RESOURCE_WORDS as Record<string, string>)[limit]?.toLowerCase() ?? limit;
}
