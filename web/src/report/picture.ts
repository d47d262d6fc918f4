// SPDX-License-Identifier: Apache-2.0
// The picture that src/report/html writes into a page, as what a timeline is fed with. Pure.
import { lowerBound, sumUp } from "../timeline/decode";
import type { MemoryData, MemoryRow, MemoryTrack } from "../timeline/memory_source";
import { type Group, type Leaf, leavesInOrder, trackWords } from "../timeline/tracks";
import type { NameEntry, TrackInfo, TrackKind } from "../timeline/types";

export interface PictureRow {
  // Starts, each as what to add to the one before.
  s: number[];
  d: number[];
  // Indices of texts.
  t: number[];
  // Of blocks that stand for several: how many, and how long they took.
  c?: number[];
  b?: number[];
}

export interface Picture {
  start: number;
  end: number;
  // Short, whole where it is longer, and what sort of work it is.
  texts: [label: string, whole?: string, work?: string][];
  tracks: {
    group: string;
    name: string;
    kind: TrackKind;
    // Of markers, who set them.
    domain?: string;
    inside?: string;
    rows: PictureRow[];
  }[];
}

// What the warps of one profiled kernel did.
export interface Inside {
  group: string;
  // Its short name.
  kernel: string;
  from: number;
  to: number;
  rows: { start: Float64Array; end: Float64Array }[];
}

export interface ReportData {
  data: MemoryData;
  inside: Inside[];
}

function leafOf(track: TrackInfo, name: string, isInside: boolean): Leaf {
  // "SM 0, block 3, producer": those of one block stand together.
  const at = isInside ? name.lastIndexOf(", ") : -1;
  const [section, label] =
    at < 0 ? [name, trackWords(track)] : [name.slice(0, at), name.slice(at + 2)];
  return { id: track.id, label, section, rows: track.rows, track, series: null };
}

function note(group: Group, inside: Inside[], kernel: string, rows: readonly MemoryRow[]): void {
  let of = inside.find((entry) => entry.group === group.id);
  if (!of) {
    of = { group: group.id, kernel, from: Infinity, to: -Infinity, rows: [] };
    inside.push(of);
  }
  for (const { start, duration } of rows) {
    const from = Float64Array.from(start ?? []);
    const end = from.map((time, i) => time + duration![i]!);
    of.from = Math.min(of.from, from[0]!);
    of.to = Math.max(of.to, end.at(-1)!);
    of.rows.push({ start: from, end });
  }
}

export function readPicture(picture: Picture, process: string): ReportData {
  const names = picture.texts.map(([label, whole, work]): NameEntry => {
    return { label, name: whole || label, ...(work === undefined ? {} : { kernelClass: work }) };
  });
  const groups: Group[] = [];
  const inside: Inside[] = [];
  const infos: TrackInfo[] = [];
  // Without anything else they are what there is to see.
  const isClosed = picture.tracks.some((track) => track.inside === undefined);
  const tracks = picture.tracks.map(({ group, name, kind, inside: kernel, domain, rows }, i) => {
    const of = domain === undefined ? {} : { domain };
    const info: TrackInfo = { id: `${kind}:${i}`, kind, rows: rows.length, events: 0, ...of };
    infos.push(info);
    if (groups.at(-1)?.title !== group) {
      const startsClosed = kernel !== undefined && isClosed;
      groups.push({ id: `group:${i}`, title: group, note: "", startsClosed, leaves: [] });
    }
    const shown = groups.at(-1)!;
    shown.leaves.push(leafOf(info, name, kernel !== undefined));
    const held: MemoryTrack = {
      id: info.id,
      names,
      rows: rows.map(({ s, d, t, c, b }, row) => {
        const merged = c && b ? { count: c, busy: b } : {};
        return { row, start: sumUp(s), duration: d, name: t, ...merged };
      }),
    };
    if (kernel !== undefined) note(shown, inside, kernel, held.rows);
    return held;
  });
  for (const group of groups) group.leaves = leavesInOrder(group.leaves);
  const description = {
    version: 1,
    isLive: false,
    isComplete: true,
    progress: 1,
    span: [picture.start, picture.end] as const,
    tracks: infos,
    series: [],
    problems: [],
    devices: [],
    process,
    groups,
  };
  return { data: { description, tracks, series: [] }, inside };
}

// Those that recorded something between two times, of one kernel where it is named.
export function insideDuring(
  all: readonly Inside[],
  from: number,
  to: number,
  kernel?: string,
): Inside[] {
  return all.filter((entry) => {
    if (kernel !== undefined && entry.kernel !== kernel) return false;
    return entry.rows.some(({ start, end }) => {
      const first = lowerBound(end, from + 1);
      return first < start.length && start[first]! < to;
    });
  });
}
