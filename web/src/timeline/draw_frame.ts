// SPDX-License-Identifier: Apache-2.0
// A frame from what is known: tracks in view, the ruler, what is selected. Makes lists of things to
// draw; nothing here touches a canvas.
import { DrawList } from "./draw_list";
import { allot, drawJob, groundOf, jobsOf, MOST_RECTS, type RowJob, type Stage } from "./draw_rows";
import { lineOf, type Scale } from "./draw_series";
import { type Item, type Layout, placeOf, visibleItems } from "./layout";
import { INK } from "./palette";
import { ticks } from "./ruler";
import type { Segment } from "./tile_cache";
import type { EventRef, SeriesPicture, TileTrack } from "./types";
import { metricInk } from "./units";
import { type View, xOf } from "./view";

export const RULER_PX = 26;
const CURSOR_HEAD_PX = 4;
// How far out of view an arrow goes, in views.
const BEYOND = 0.25;

export interface Scene extends Omit<Stage, "lines"> {
  // Of the session: outside of it nothing happened.
  whole: View;
  // Whether stretches without a picture are drawn as unknown: for a moment they are on their way.
  showsUnknown: boolean;
  // Pixels of the device, with the ruler.
  height: number;
  layout: Layout;
  // Pixels of the page.
  scroll: number;
  tracksOf: (id: string) => readonly Segment<TileTrack>[];
  seriesOf: (id: string) => readonly Segment<SeriesPicture>[];
  wholeSeriesOf: (id: string) => SeriesPicture | null;
  scaleOf: (id: string) => Scale | undefined;
  selected: EventRef | null;
  partner: EventRef | null;
  // What else the call launched.
  work: readonly EventRef[];
  hovered: EventRef | null;
  range: readonly [number, number] | null;
  cursor: number | null;
  charWidth: number;
}

export interface FrameLists {
  scrolled: DrawList;
  pinned: DrawList;
  top: DrawList;
}

export function makeLists(): FrameLists {
  return { scrolled: new DrawList(), pinned: new DrawList(), top: new DrawList() };
}

// True: of something in view there is no picture.
export function drawFrame(scene: Scene, lists: FrameLists): boolean {
  const { width, height, scale, layout, scroll } = scene;
  const ruler = Math.round(RULER_PX * scale);
  const pinnedEnd = ruler + Math.round(layout.pinnedHeight * scale);
  const marks = ticks(scene.view, width, scene.charWidth);
  const stage: Stage = { ...scene, lines: marks.map(({ x }) => Math.round(x)) };

  lists.scrolled.clear(0, ruler, width, height - ruler, INK.panel);
  lists.pinned.clear(0, ruler, width, pinnedEnd - ruler, INK.panel);
  lists.top.clear(0, 0, width, ruler, INK.panel);
  for (const at of stage.lines) {
    lists.scrolled.ground.add(at, pinnedEnd, 1, height - pinnedEnd, INK.line);
    if (pinnedEnd > ruler) lists.pinned.ground.add(at, ruler, 1, pinnedEnd - ruler, INK.line);
  }

  const jobs: RowJob[] = [];
  const owners: DrawList[] = [];
  let isUnknown = false;
  const room = height / scale - RULER_PX - layout.pinnedHeight;
  const add = (items: readonly Item[], offset: number, list: DrawList, top: number) => {
    for (const item of items) {
      const y = ruler + (offset + item.y) * scale;
      if (addItem(item, y, top, scene, stage, list, jobs)) isUnknown = true;
      while (owners.length < jobs.length) owners.push(list);
    }
  };
  add(
    visibleItems(layout.scrolled, scroll, scroll + room),
    layout.pinnedHeight - scroll,
    lists.scrolled,
    pinnedEnd,
  );
  add(layout.pinned, 0, lists.pinned, ruler);
  allot(jobs, MOST_RECTS);
  jobs.forEach((job, i) => drawJob(job, owners[i]!, stage));
  if (pinnedEnd > ruler) lists.pinned.ground.add(0, pinnedEnd - 1, width, 1, INK.line);

  drawOverlay(scene, lists.top, ruler, pinnedEnd);
  drawRuler(scene, lists.top, ruler, marks);
  return isUnknown;
}

// Stretches of the view, within the session, of which there is no picture.
export function unknownIn(
  segments: readonly Segment<unknown>[],
  view: View,
  whole: View,
): [number, number][] {
  const end = Math.min(view.to, whole.to);
  let at = Math.max(view.from, whole.from);
  const gaps: [number, number][] = [];
  for (const { from, to } of segments) {
    if (from > at && at < end) gaps.push([at, Math.min(from, end)]);
    at = Math.max(at, to);
  }
  if (at < end) gaps.push([at, end]);
  return gaps;
}

// True: of some of it there is no picture.
function addItem(
  item: Item,
  y: number,
  top: number,
  scene: Scene,
  stage: Stage,
  list: DrawList,
  jobs: RowJob[],
): boolean {
  const { scale, width, view } = scene;
  const visible = { top, bottom: scene.height };
  const leaf = item.leaf;
  if (item.kind === "group") {
    if (y > top) list.ground.add(0, Math.round(y), width, 1, INK.line);
    return false;
  }
  if (leaf?.track) {
    const rowHeight = item.rowHeight * scale;
    const ground = groundOf(leaf.track.kind);
    const h = Math.round(item.rows * rowHeight) - Math.round(scale);
    if (ground !== INK.panel) list.ground.add(0, Math.round(y), width, h, ground);
    const segments = scene.tracksOf(item.id);
    jobsOf(segments, leaf.track.kind, y, rowHeight, visible, stage, jobs);
    const unknown = unknownIn(segments, view, scene.whole);
    for (const [from, to] of scene.showsUnknown ? unknown : []) {
      const x = Math.round(xOf(view, width, from));
      const w = Math.round(xOf(view, width, to)) - x;
      if (w > 0) list.hatches.push({ x, y: Math.round(y), w, h, color: INK.call });
    }
    return unknown.length > 0;
  }
  if (leaf?.series) addSeries(item, leaf.series, y, scene, list);
  return false;
}

function addSeries(
  item: Item,
  series: { metric: string },
  y: number,
  scene: Scene,
  list: DrawList,
): void {
  const { scale, width, view } = scene;
  const range = scene.scaleOf(item.id);
  if (!range) return;
  const inset = 4 * scale;
  const line = lineOf(scene.seriesOf(item.id), scene.wholeSeriesOf(item.id), range, view, {
    y: y + inset,
    width,
    height: item.height * scale - 2 * inset,
    color: metricInk(series.metric),
    lineWidth: 1.25 * scale,
  });
  if (line) list.lines.push(line);
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
  isHidden: boolean;
}

// Where an event is, even where its track is closed or out of view: then at the nearest edge.
export function boxOf(event: EventRef, scene: Scene): Box | null {
  const { view, width, scale, layout } = scene;
  const x = Math.round(xOf(view, width, event.start));
  const w = Math.max(1, Math.round(xOf(view, width, event.end)) - x);
  const place = placeOf(layout, event.track, scene.scroll);
  if (!place) return null;
  const { item } = place;
  const top = RULER_PX + place.y + Math.min(event.row, item.rows - 1) * item.rowHeight;
  const least = RULER_PX + (place.isPinned ? 0 : layout.pinnedHeight);
  const most = scene.height / scale;
  const isHidden = top < least || top > most;
  const y = Math.min(Math.max(top, least), most);
  return { x, y: Math.round(y * scale), w, h: Math.round(item.rowHeight * scale), isHidden };
}

function drawOverlay(scene: Scene, list: DrawList, ruler: number, pinnedEnd: number): void {
  const { width, height, view, scale, range } = scene;
  if (range) {
    const left = Math.round(xOf(view, width, range[0]));
    const right = Math.max(left + 1, Math.round(xOf(view, width, range[1])));
    if (right > 0 && left < width) {
      const x = Math.max(left, -1);
      const w = Math.min(right, width + 1) - x;
      list.shades.push({ x, y: ruler, w, h: height - ruler, color: INK.select });
      const edge = Math.max(1, Math.round(scale));
      if (left >= 0) list.shades.push({ x: left, y: 0, w: edge, h: height, color: INK.accent });
      if (right <= width) {
        list.shades.push({ x: right - edge, y: 0, w: edge, h: height, color: INK.accent });
      }
    }
  }
  const outline = (event: EventRef, color: number) => {
    const box = boxOf(event, scene);
    if (!box || box.isHidden || box.y + box.h <= pinnedEnd - height) return;
    if (box.x > width || box.x + box.w < 0) return;
    const x = Math.max(box.x, -4);
    const w = Math.min(box.x + box.w, width + 4) - x;
    list.outlines.push({ x, y: box.y, w, h: box.h, color });
  };
  if (scene.hovered && scene.hovered !== scene.selected) outline(scene.hovered, INK.ink2);
  for (const event of scene.work) outline(event, INK.accent);
  if (scene.partner) outline(scene.partner, INK.accent);
  if (scene.selected) outline(scene.selected, INK.ink);
  if (scene.selected && scene.partner) drawArrows(scene, scene.selected, scene.partner, list);
  if (scene.cursor !== null) drawCursor(scene, scene.cursor, list);
}

// A line through all tracks, with a head on the ruler.
function drawCursor(scene: Scene, cursor: number, list: DrawList): void {
  const { view, width, height, scale } = scene;
  const x = Math.round(xOf(view, width, cursor));
  if (x < 0 || x >= width) return;
  const edge = Math.max(1, Math.round(scale));
  const head = Math.round(CURSOR_HEAD_PX * scale);
  list.shades.push({ x, y: 0, w: edge, h: height, color: INK.accent });
  list.shades.push({ x: x - head, y: 0, w: 2 * head + edge, h: head, color: INK.accent });
}

// Always from the call to the work.
function drawArrows(scene: Scene, selected: EventRef, partner: EventRef, list: DrawList): void {
  const isCall = /_calls:/.test(selected.track);
  const call = isCall ? selected : partner;
  for (const work of [isCall ? partner : selected, ...scene.work]) {
    drawArrow(scene, call, work, list);
  }
}

function drawArrow(scene: Scene, from: EventRef, to: EventRef, list: DrawList): void {
  const call = boxOf(from, scene);
  const work = boxOf(to, scene);
  if (!call || !work) return;
  // One that is out of view still says from where, or to where: its arrow begins or ends near the edge.
  const beyond = BEYOND * scene.width;
  const inReach = (x: number) => Math.min(Math.max(x, -beyond), scene.width + beyond);
  const fromX = call.x + Math.min(call.w / 2, 4 * scene.scale);
  const isOut = (side: number) => (work.x - side) * (fromX - side) > 0;
  if ((work.x < 0 && isOut(0)) || (work.x > scene.width && isOut(scene.width))) return;
  const isUp = work.y < call.y;
  list.arrows.push({
    fromX: inReach(fromX),
    fromY: isUp ? call.y : call.y + call.h,
    toX: inReach(work.x),
    toY: isUp ? work.y + work.h : work.y,
  });
}

function drawRuler(
  scene: Scene,
  list: DrawList,
  ruler: number,
  marks: readonly { x: number; label: string }[],
): void {
  const { scale, width } = scene;
  list.ground.add(0, ruler - 1, width, 1, INK.line);
  for (const { x, label } of marks) {
    // A mark that says nothing is none.
    if (x + (label.length + 1) * scene.charWidth >= width) continue;
    list.ground.add(
      Math.round(x),
      ruler - Math.round(6 * scale),
      1,
      Math.round(6 * scale),
      INK.call,
    );
    list.texts.push({
      x: x + 5 * scale,
      y: 12 * scale,
      text: label,
      color: INK.ink2,
      size: Math.round(11 * scale),
      isBold: false,
    });
  }
}
