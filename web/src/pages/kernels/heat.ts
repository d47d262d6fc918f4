// SPDX-License-Identifier: Apache-2.0
// What makes a line hot: samples that fell on it, how often it was executed, or what it moved.
import type { CodeImage, InstructionCounts } from "../../api/types";
import { compact, count, plain, plural } from "../../base/format";
import { stallColor, type StallPart, stallWords } from "./stalls";

export type HeatBy = "stalls" | "executed" | "sectors" | "shared";

export interface Heat {
  by: HeatBy;
  title: string;
  hint: string;
}

const HEATS: Heat[] = [
  { by: "stalls", title: "Stalls", hint: "Samples of warps, by what they waited for" },
  { by: "executed", title: "Executed", hint: "Warps that executed an instruction" },
  { by: "sectors", title: "Sectors", hint: "Sectors of global memory that were moved" },
  { by: "shared", title: "Shared passes", hint: "Passes over shared memory" },
];

export interface Heated {
  samples: number;
  stack: StallPart[];
  counts: InstructionCounts | null;
}

export function heatOf({ samples, counts }: Heated, by: HeatBy): number {
  if (by === "stalls") return samples;
  if (counts === null) return 0;
  return by === "executed"
    ? counts.warps
    : by === "sectors"
      ? counts.sectors
      : counts.shared_passes;
}

// What the session has, for this image.
export function heatsOf({ samples, instructions, counted_lines }: CodeImage): Heat[] {
  const counted = [...instructions, ...counted_lines];
  return HEATS.filter(({ by }) =>
    by === "stalls"
      ? samples > 0
      : counted.some(({ counts }) => heatOf({ samples: 0, stack: [], counts }, by) > 0),
  );
}

export function addCounts(
  a: InstructionCounts | null,
  b: InstructionCounts | null,
): InstructionCounts | null {
  if (a === null || b === null) return a ?? b;
  return {
    warps: a.warps + b.warps,
    threads: a.threads + b.threads,
    threads_predicated_on: a.threads_predicated_on + b.threads_predicated_on,
    sectors: a.sectors + b.sectors,
    sectors_ideal: a.sectors_ideal + b.sectors_ideal,
    shared_passes: a.shared_passes + b.shared_passes,
    shared_passes_ideal: a.shared_passes_ideal + b.shared_passes_ideal,
    local_sectors: a.local_sectors + b.local_sectors,
  };
}

// Of what moves more than it has to: how much of it would do, and how many times that it is.
function traffic(counts: InstructionCounts, by: HeatBy): { all: number; ideal: number } | null {
  if (by === "sectors") return { all: counts.sectors, ideal: counts.sectors_ideal };
  if (by === "shared") return { all: counts.shared_passes, ideal: counts.shared_passes_ideal };
  return null;
}

function times({ all, ideal }: { all: number; ideal: number }): string {
  return ideal > 0 ? `×${plain(all / ideal, 2)}` : "";
}

export interface BarPart {
  share: number;
  color: string;
}

// What would do is grey; what is beyond it stands out.
export function barOf(row: Heated, by: HeatBy, most: number): BarPart[] {
  if (by === "stalls") {
    return row.stack.map(({ reason, samples }) => ({
      share: samples / Math.max(most, 1),
      color: stallColor(reason),
    }));
  }
  const all = heatOf(row, by);
  const moved = row.counts && traffic(row.counts, by);
  const ideal = moved ? Math.min(moved.ideal, all) : all;
  return [
    { share: ideal / Math.max(most, 1), color: "var(--ink3)" },
    { share: (all - ideal) / Math.max(most, 1), color: "var(--warn)" },
  ].filter(({ share }) => share > 0);
}

// The number beside the bar: "1.2M", "64K ×4".
export function figureOf(row: Heated, by: HeatBy): string {
  const heat = heatOf(row, by);
  if (heat === 0) return "";
  const moved = row.counts && traffic(row.counts, by);
  return [compact(heat), moved ? times(moved) : ""].filter(Boolean).join(" ");
}

const WARP_THREADS = 32;

// All that was counted, a line for each thing.
export function countWords(counts: InstructionCounts | null): string[] {
  if (counts === null || counts.warps === 0) return [];
  const { warps, threads, threads_predicated_on } = counts;
  const active = plain(threads / warps, 3);
  const working = plain(threads_predicated_on / warps, 3);
  const words = [
    `executed by ${plural(warps, "warp")}, ${active} of ${WARP_THREADS} threads active` +
      (working === active ? "" : `, ${working} not switched off`),
  ];
  for (const [by, what] of [
    ["sectors", "sectors of global memory"],
    ["shared", "passes over shared memory"],
  ] as const) {
    const moved = traffic(counts, by);
    if (moved === null || moved.all === 0) continue;
    const enough = moved.ideal > 0 ? `, ${count(moved.ideal)} would do` : "";
    words.push(`${count(moved.all)} ${what}${enough}`);
  }
  return words;
}

export function legendFor(by: HeatBy, stalls: StallPart[]): { color: string; words: string }[] {
  if (by === "stalls") {
    return stalls.map(({ reason }) => ({ color: stallColor(reason), words: stallWords(reason) }));
  }
  if (by === "executed") return [{ color: "var(--ink3)", words: "warps" }];
  return [
    { color: "var(--ink3)", words: "would do" },
    { color: "var(--warn)", words: "beyond that" },
  ];
}
