// SPDX-License-Identifier: Apache-2.0
// What a range adds up to, by what tracks are called. Pure.
import { count, duration, percent } from "../../base/format";
import { kindOf, type NameSum, type TrackKind, type TrackSum } from "../../timeline";
import { trackWords } from "../../timeline/tracks";
import type { TrackInfo } from "../../timeline/types";

export interface KindSum {
  kind: TrackKind;
  // As the tracks are called: "operators".
  words: string;
  count: number;
  reaching: number;
  busyNs: number;
  // Where it is one track, its share of the range; of several, time adds up beyond it.
  tracks: number;
  names: readonly NameSum[];
  hasAllNames: boolean;
}

const ORDER: readonly TrackKind[] = [
  "kernels",
  "copies",
  "fills",
  "graphs",
  "waits",
  "kernel_calls",
  "api_calls",
  "memory_calls",
  "scopes",
  "markers",
  "warps",
];
// Their events lie inside each other: added up, time would count several times.
const NESTED: ReadonlySet<TrackKind> = new Set<TrackKind>(["scopes", "markers"]);

const MOST_NAMES = 5;

function sumOf(kind: TrackKind, words: string, list: readonly TrackSum[]): KindSum {
  const names = new Map<string, NameSum>();
  for (const name of list.flatMap((sum) => sum.names)) {
    const sum = names.get(name.name);
    names.set(name.name, {
      ...name,
      count: (sum?.count ?? 0) + name.count,
      reaching: (sum?.reaching ?? 0) + name.reaching,
      busyNs: (sum?.busyNs ?? 0) + name.busyNs,
    });
  }
  const sorted = [...names.values()].sort((a, b) => b.busyNs - a.busyNs);
  return {
    kind,
    words,
    count: list.reduce((sum, { count }) => sum + count, 0),
    reaching: list.reduce((sum, { reaching }) => sum + reaching, 0),
    busyNs: list.reduce((sum, { busyNs }) => sum + busyNs, 0),
    tracks: list.length,
    names: sorted.slice(0, MOST_NAMES),
    hasAllNames: list.every(({ hasAllNames }) => hasAllNames),
  };
}

export function sumKinds(sums: readonly TrackSum[], tracks: readonly TrackInfo[]): KindSum[] {
  const known = new Map(tracks.map((track) => [track.id, track]));
  return ORDER.flatMap((kind) => {
    const byWords = new Map<string, TrackSum[]>();
    for (const sum of sums) {
      if (kindOf(sum.id) !== kind || (!sum.count && !sum.reaching && !sum.busyNs)) continue;
      const words = trackWords(known.get(sum.id) ?? { kind });
      byWords.set(words, [...(byWords.get(words) ?? []), sum]);
    }
    return [...byWords].map(([words, list]) => sumOf(kind, words, list));
  });
}

// "12", "3 open": how many begin in the range; of what began before it, how many are open in it.
export function countWords(sum: Pick<KindSum, "count" | "reaching">): string {
  if (sum.reaching === 0) return count(sum.count);
  const open = `${count(sum.reaching)} open`;
  return sum.count === 0 ? open : `${count(sum.count)} and ${open}`;
}

export function timeWords({ kind, busyNs, tracks }: KindSum, rangeNs: number): string {
  if (NESTED.has(kind)) return "";
  return tracks === 1 ? `${duration(busyNs)}, ${percent(busyNs / rangeNs)}` : duration(busyNs);
}
