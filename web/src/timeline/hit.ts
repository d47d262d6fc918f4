// SPDX-License-Identifier: Apache-2.0
// What is under a point, and what lies beside an event. Pure.
import { lowerBound } from "./decode";
import { itemAt, type Item, type Layout } from "./layout";
import { eventWord } from "./tracks";
import type { Segment } from "./tile_cache";
import {
  type EventRef,
  type ExactRow,
  kindOf,
  type NameEntry,
  type StepRow,
  type TileTrack,
} from "./types";

// One step of a row that is not exact.
export interface StepHit {
  track: string;
  row: number;
  from: number;
  to: number;
  count: number;
  busyNs: number;
  label: string;
}

export type Hit =
  | { kind: "event"; item: Item; event: EventRef }
  | { kind: "step"; item: Item; step: StepHit }
  | { kind: "item"; item: Item };

type Segments = readonly Segment<TileTrack>[];

export function eventAt(
  track: string,
  row: ExactRow,
  index: number,
  names: ReadonlyMap<number, NameEntry>,
): EventRef {
  const entry = names.get(row.name[index]!);
  const label = entry?.label || eventWord(kindOf(track));
  const count = row.merged?.count[index] ?? 1;
  return {
    track,
    row: row.row,
    event: row.ids[index] ?? null,
    start: row.start[index]!,
    end: row.end[index]!,
    label,
    name: entry?.name || label,
    kernelClass: entry?.kernelClass,
    ...(count > 1 ? { merged: { count, busyNs: row.merged!.busy[index]! } } : {}),
  };
}

export function stepOf(
  track: string,
  row: StepRow,
  index: number,
  names: ReadonlyMap<number, NameEntry>,
): StepHit {
  return {
    track,
    row: row.row,
    from: row.at[index]!,
    to: row.at[index]! + row.stepNs,
    count: row.count[index]!,
    busyNs: row.busy[index]!,
    label: names.get(row.name[index]!)?.label || eventWord(kindOf(track)),
  };
}

// Whether a name has some text in it; null: there is none to look for.
export function finder(text: string): ((name: NameEntry | undefined) => boolean) | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return null;
  const known = new Map<NameEntry | undefined, boolean>();
  return (entry) => {
    let isFound = known.get(entry);
    if (isFound === undefined) {
      isFound = `${entry?.label} ${entry?.name}`.toLowerCase().includes(wanted);
      known.set(entry, isFound);
    }
    return isFound;
  };
}

// The event at a moment, or the nearest within `slack` of it.
export function nearest(row: ExactRow, time: number, slack: number): number {
  let best = -1;
  let bestGap = slack;
  const from = lowerBound(row.reach, time - slack);
  for (let i = from; i < row.start.length && row.start[i]! <= time + slack; ++i) {
    const gap = Math.max(row.start[i]! - time, time - row.end[i]!, 0);
    if (gap < bestGap || (gap === bestGap && best < 0)) {
      best = i;
      bestGap = gap;
    }
  }
  return best;
}

// Where nothing begins, the nearest step within `slack` in which something does.
function stepAt(row: StepRow, time: number, slack: number): number {
  const at = lowerBound(row.at, time + 1e-9) - 1;
  const covers = at >= 0 && time < row.at[at]! + row.stepNs;
  if (covers && row.count[at]! > 0) return at;
  let best = covers ? at : -1;
  let bestGap = slack;
  const first = lowerBound(row.at, time - slack - row.stepNs);
  for (let i = first; i < row.at.length && row.at[i]! <= time + slack; ++i) {
    const gap = Math.max(row.at[i]! - time, time - row.at[i]! - row.stepNs);
    if (i === at || row.count[i] === 0 || gap >= bestGap) continue;
    best = i;
    bestGap = gap;
  }
  return best;
}

export function hitRow(
  track: string,
  rowNumber: number,
  time: number,
  slack: number,
  segments: Segments,
): EventRef | StepHit | null {
  for (const { entry, from, to } of segments) {
    if (time < from - slack || time > to + slack) continue;
    const row = entry.data.rows.find((candidate) => candidate.row === rowNumber);
    if (!row) continue;
    const { names } = entry.data;
    if (row.isExact) {
      const index = nearest(row, time, slack);
      if (index >= 0) return eventAt(track, row, index, names);
      continue;
    }
    const index = stepAt(row, time, slack);
    if (index < 0) continue;
    return stepOf(track, row, index, names);
  }
  return null;
}

export function isStep(found: EventRef | StepHit): found is StepHit {
  return "busyNs" in found;
}

// `y` from the top of the tracks, in pixels of the page; `slack`: how far beside an event counts.
export function hitTest(
  layout: Layout,
  scroll: number,
  y: number,
  time: number,
  slack: number,
  segmentsOf: (id: string) => Segments,
): Hit | null {
  const place = itemAt(layout, y, scroll);
  if (!place) return null;
  const { item } = place;
  if (item.kind !== "track") return { kind: "item", item };
  const row = Math.floor((y - place.y) / item.rowHeight);
  const found = hitRow(item.id, row, time, slack, segmentsOf(item.id));
  if (!found) return { kind: "item", item };
  return isStep(found)
    ? { kind: "step", item, step: found }
    : { kind: "event", item, event: found };
}

// The next event of the same row, or the one before.
export function neighbour(event: EventRef, by: 1 | -1, segments: Segments): EventRef | null {
  let best: EventRef | null = null;
  for (const { entry } of segments) {
    const row = entry.data.rows.find((candidate) => candidate.row === event.row);
    if (!row?.isExact) continue;
    const at = lowerBound(row.start, by > 0 ? event.start + 1e-6 : event.start);
    const index = by > 0 ? at : at - 1;
    if (index < 0 || index >= row.start.length) continue;
    const found = eventAt(event.track, row, index, entry.data.names);
    const isNearer = !best || (by > 0 ? found.start < best.start : found.start > best.start);
    if (isNearer) best = found;
  }
  return best;
}

// An event as the latest pictures have it.
export function sameEvent(event: EventRef, segments: Segments): EventRef | null {
  for (const { entry } of segments) {
    const row = entry.data.rows.find((candidate) => candidate.row === event.row);
    if (!row?.isExact) continue;
    const { start, end } = row;
    for (let i = lowerBound(start, event.start); start[i] === event.start; ++i) {
      // What was open has ended meanwhile.
      if (end[i] !== event.end && event.event !== null) continue;
      const found = eventAt(event.track, row, i, entry.data.names);
      if (found.label === event.label) return found;
    }
  }
  return null;
}
