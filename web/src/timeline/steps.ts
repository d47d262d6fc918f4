// SPDX-License-Identifier: Apache-2.0
// From event to event by keys. Pure.
import { eventAt, hitRow, isStep, type StepHit, stepOf } from "./hit";
import type { Item, Layout } from "./layout";
import type { Segment } from "./tile_cache";
import type { EventRef, TileTrack } from "./types";
import type { View } from "./view";

export type SegmentsOf = (id: string) => readonly Segment<TileTrack>[];

// The first event in view that is drawn as one.
export function firstEvent(items: readonly Item[], segmentsOf: SegmentsOf): EventRef | null {
  for (const { id } of items) {
    for (const { entry, from } of segmentsOf(id)) {
      for (const row of entry.data.rows) {
        if (!row.isExact) continue;
        const index = row.start.findIndex((start) => start >= from);
        if (index >= 0) return eventAt(id, row, index, entry.data.names);
      }
    }
  }
  return null;
}

// The step in view in which most events begin, where none is drawn by itself.
export function densestStep(
  items: readonly Item[],
  view: View,
  segmentsOf: SegmentsOf,
): StepHit | null {
  let best: StepHit | null = null;
  for (const { id } of items) {
    for (const { entry } of segmentsOf(id)) {
      for (const row of entry.data.rows) {
        if (row.isExact) continue;
        for (let i = 0; i < row.at.length; ++i) {
          if (row.at[i]! + row.stepNs <= view.from || row.at[i]! >= view.to) continue;
          if (row.count[i]! > (best?.count ?? 0)) best = stepOf(id, row, i, entry.data.names);
        }
      }
    }
  }
  return best;
}

// Whether its row is drawn event by event there.
export function isExactAt(event: EventRef, segments: readonly Segment<TileTrack>[]): boolean {
  return segments.some(
    ({ entry, from, to }) =>
      event.end >= from &&
      event.start <= to &&
      entry.data.rows.some((row) => row.row === event.row && row.isExact),
  );
}

// The nearest event of the next row that has one; `reach`: how far it may be away.
export function inNextRow(
  layout: Layout,
  selected: EventRef,
  by: 1 | -1,
  reach: number,
  segmentsOf: SegmentsOf,
): EventRef | null {
  const items = [...layout.pinned, ...layout.scrolled].filter(({ kind }) => kind === "track");
  const time = (selected.start + selected.end) / 2;
  let at = items.findIndex(({ id }) => id === selected.track);
  let row = selected.row + by;
  while (at >= 0 && at < items.length) {
    const { id, rows } = items[at]!;
    for (; row >= 0 && row < rows; row += by) {
      const found = hitRow(id, row, time, reach, segmentsOf(id));
      if (found && !isStep(found)) return found;
    }
    at += by;
    row = by > 0 ? 0 : (items[at]?.rows ?? 1) - 1;
  }
  return null;
}
