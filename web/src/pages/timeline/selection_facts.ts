// SPDX-License-Identifier: Apache-2.0
// What a range adds up to, by kind of track. Pure.
import { kindOf, type NameSum, type TrackKind, type TrackSum } from "../../timeline";

export interface KindSum {
  kind: TrackKind;
  count: number;
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

const MOST_NAMES = 5;

export function sumKinds(sums: readonly TrackSum[]): KindSum[] {
  return ORDER.flatMap((kind) => {
    const list = sums.filter(({ id, count, busyNs }) => kindOf(id) === kind && (count || busyNs));
    if (list.length === 0) return [];
    const names = new Map<string, NameSum>();
    for (const name of list.flatMap((sum) => sum.names)) {
      const sum = names.get(name.name);
      const count = (sum?.count ?? 0) + name.count;
      names.set(name.name, { ...name, count, busyNs: (sum?.busyNs ?? 0) + name.busyNs });
    }
    const sorted = [...names.values()].sort((a, b) => b.busyNs - a.busyNs);
    return {
      kind,
      count: list.reduce((sum, { count }) => sum + count, 0),
      busyNs: list.reduce((sum, { busyNs }) => sum + busyNs, 0),
      tracks: list.length,
      names: sorted.slice(0, MOST_NAMES),
      hasAllNames: list.every(({ hasAllNames }) => hasAllNames),
    };
  });
}
