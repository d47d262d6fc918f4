// SPDX-License-Identifier: Apache-2.0
// Where tracks are, from the top. Pinned ones stay in place above the others, which scroll. In
// pixels of the page.
import type { TrackKind } from "./types";
import type { Group, Leaf } from "./tracks";

export interface Item {
  kind: "group" | "track" | "series";
  id: string;
  label: string;
  note: string;
  y: number;
  height: number;
  isCollapsed: boolean;
  isPinned: boolean;
  // It carries the name of its stream or thread: those of pinned ones are elsewhere.
  isFirst: boolean;
  leaf: Leaf | null;
  rows: number;
  rowHeight: number;
}

export interface Layout {
  pinned: Item[];
  pinnedHeight: number;
  // Their y is from the top of what scrolls.
  scrolled: Item[];
  height: number;
}

export interface LayoutState {
  // Ids of groups and tracks that are not as they start: closed, or opened where they start closed.
  toggled: ReadonlySet<string>;
  pinned: readonly string[];
  isCompact: boolean;
}

const GROUP_PX = 26;
const SERIES_PX = 36;
const SMALL_PX = 10;
const GAP_PX = 3;
const SECTION_GAP_PX = 8;

const ROW_PX: Record<TrackKind, number> = {
  kernels: 36,
  graphs: 14,
  copies: 14,
  fills: 10,
  kernel_calls: 10,
  graph_calls: 10,
  copy_calls: 10,
  fill_calls: 10,
  memory_calls: 10,
  api_calls: 14,
  waits: 14,
  scopes: 18,
  markers: 18,
  warps: 14,
  coverage: 8,
};
// Of streams whose kernels overlap.
const SHARED_KERNELS_PX = 20;
// A label needs its own height even where the row is thin.
const LABEL_PX = 16;

function leafItem(
  leaf: Leaf,
  y: number,
  state: LayoutState,
  isPinned: boolean,
  isFirst: boolean,
): Item {
  const isCollapsed = state.toggled.has(leaf.id);
  const base = {
    id: leaf.id,
    label: leaf.label,
    note: leaf.section,
    y,
    isCollapsed,
    isPinned,
    isFirst,
    leaf,
    rows: leaf.rows,
  };
  if (!leaf.track) {
    const height = isCollapsed ? LABEL_PX : SERIES_PX;
    return { ...base, kind: "series", height, rowHeight: height };
  }
  const kind = leaf.track.kind;
  const full = kind === "kernels" && leaf.rows > 1 ? SHARED_KERNELS_PX : ROW_PX[kind];
  // Closed, all rows share the height of a thin one.
  const rowHeight = isCollapsed ? SMALL_PX / leaf.rows : full;
  const height = Math.max(rowHeight * leaf.rows, LABEL_PX);
  return { ...base, kind: "track", height, rowHeight };
}

export function isClosed(group: Group, toggled: ReadonlySet<string>): boolean {
  return toggled.has(group.id) !== group.startsClosed;
}

export function layOut(groups: readonly Group[], state: LayoutState): Layout {
  const leaves = new Map(groups.flatMap(({ leaves }) => leaves.map((leaf) => [leaf.id, leaf])));
  const pinned: Item[] = [];
  let y = 2;
  for (const id of state.pinned) {
    const leaf = leaves.get(id);
    if (!leaf) continue;
    const item = leafItem(leaf, y, state, true, true);
    pinned.push(item);
    y += item.height + GAP_PX;
  }
  const pinnedHeight = pinned.length === 0 ? 0 : y + 2;
  const isPinned = new Set(pinned.map(({ id }) => id));

  const scrolled: Item[] = [];
  y = 0;
  for (const group of groups) {
    const isCollapsed = isClosed(group, state.toggled);
    scrolled.push({
      kind: "group",
      id: group.id,
      label: group.title,
      note: group.note,
      y,
      height: GROUP_PX,
      isCollapsed,
      isPinned: false,
      isFirst: true,
      leaf: null,
      rows: 0,
      rowHeight: 0,
    });
    y += GROUP_PX;
    if (isCollapsed) continue;
    let section: string | null = null;
    for (const leaf of group.leaves) {
      if (isPinned.has(leaf.id)) continue;
      const isFirst = leaf.section !== section;
      if (isFirst && section !== null) y += SECTION_GAP_PX;
      section = leaf.section;
      const item = leafItem(leaf, y, state, false, isFirst);
      scrolled.push(item);
      y += item.height + GAP_PX;
    }
    y += state.isCompact ? 2 : 6;
  }
  return { pinned, pinnedHeight, scrolled, height: y };
}

// The first item that ends below `y`; those of a list are from top to bottom.
export function firstBelow(items: readonly Item[], y: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle]!;
    if (item.y + item.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function visibleItems(items: readonly Item[], top: number, bottom: number): Item[] {
  const first = firstBelow(items, top);
  let end = first;
  while (end < items.length && items[end]!.y < bottom) ++end;
  return items.slice(first, end);
}

export interface Place {
  item: Item;
  // From the top of the tracks, below the ruler.
  y: number;
  isPinned: boolean;
}

// Where an item is in view.
export function placeOf(layout: Layout, id: string, scroll: number): Place | null {
  const pinned = layout.pinned.find((item) => item.id === id);
  if (pinned) return { item: pinned, y: pinned.y, isPinned: true };
  const item = layout.scrolled.find((entry) => entry.id === id);
  return item ? { item, y: layout.pinnedHeight + item.y - scroll, isPinned: false } : null;
}

// What is at a height below the ruler.
export function itemAt(layout: Layout, y: number, scroll: number): Place | null {
  const isPinned = y < layout.pinnedHeight;
  const items = isPinned ? layout.pinned : layout.scrolled;
  const offset = isPinned ? 0 : layout.pinnedHeight - scroll;
  const item = items[firstBelow(items, y - offset)];
  if (!item || item.y > y - offset) return null;
  return { item, y: item.y + offset, isPinned };
}

export function mostScroll(layout: Layout, height: number): number {
  return Math.max(0, layout.height - (height - layout.pinnedHeight));
}
