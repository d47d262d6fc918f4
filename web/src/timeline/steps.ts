// SPDX-License-Identifier: Apache-2.0
// From event to event by keys. Pure.
import { eventAt, hitRow, isStep } from "./hit";
import type { Item, Layout } from "./layout";
import type { Segment } from "./tile_cache";
import type { EventRef, TileTrack } from "./types";

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
