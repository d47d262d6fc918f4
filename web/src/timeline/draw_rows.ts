// SPDX-License-Identifier: Apache-2.0
// Rows of slices as rectangles, or, where slices are thinner than what can be told apart, as rows of
// pixels: how busy each is as height, what takes the most of it as colour.
import { lowerBound } from "./decode";
import type { DrawList, PixelRow } from "./draw_list";
import { INK } from "./palette";
import type { Segment } from "./tile_cache";
import type { ExactRow, NameEntry, StepRow, TileRow, TileTrack, TrackKind } from "./types";
import { xOf, type View } from "./view";

export const MOST_RECTS = 8000;
// A row with more slices than one in so many pixels, and thin ones, is shown as shares.
const PIXELS_PER_SLICE = 4;
const THIN_PX = 2;
const LEAST_LABEL_PX = 26;
const LABELLED_ROW_PX = 13;
// What takes less of a pixel's time than can be seen is seen, and looks like more than it is by no more
// than this.
const LEAST_PX = 2;
const FAINT = INK.line;

export interface Stage {
  view: View;
  // Pixels of the device.
  width: number;
  scale: number;
  // Where the lines of the ruler are, which a row of pixels would cover.
  lines: readonly number[];
  textOn: ArrayLike<number>;
  // False: drawn faintly. Null: nothing is looked for.
  isFound: ((name: NameEntry | undefined) => boolean) | null;
  // A text that is no wider, or an empty one.
  shorten: (text: string, width: number, size: number) => string;
}

export interface RowJob {
  row: TileRow;
  names: ReadonlyMap<number, NameEntry>;
  // Indices of what is in view.
  first: number;
  end: number;
  // In pixels: what lies outside is drawn from other data.
  left: number;
  right: number;
  y: number;
  height: number;
  ground: number;
  asPixels: boolean;
}

const GROUNDED = new Set<TrackKind>(["kernels", "copies", "fills", "graphs"]);

export function groundOf(kind: TrackKind): number {
  return GROUNDED.has(kind) ? INK.idle : INK.panel;
}

// What there is to draw of a track, row by row. `y` and `rowHeight` in pixels of the device.
export function jobsOf(
  segments: readonly Segment<TileTrack>[],
  kind: TrackKind,
  y: number,
  rowHeight: number,
  visible: { top: number; bottom: number },
  stage: Stage,
  jobs: RowJob[],
): void {
  const { view, width, scale } = stage;
  for (const { entry, from, to } of segments) {
    const left = Math.max(0, Math.round(xOf(view, width, from)));
    const right = Math.min(width, Math.round(xOf(view, width, to)));
    if (right <= left) continue;
    for (const row of entry.data.rows) {
      const top = Math.round(y + row.row * rowHeight);
      const bottom = Math.round(y + (row.row + 1) * rowHeight);
      if (bottom <= visible.top || top >= visible.bottom) continue;
      const height = Math.max(1, bottom - top - (bottom - top > 6 * scale ? Math.round(scale) : 0));
      const [first, end] = inView(row, from, to);
      if (first >= end) continue;
      const job: RowJob = {
        row,
        names: entry.data.names,
        first,
        end,
        left,
        right,
        y: top,
        height,
        ground: groundOf(kind),
        asPixels: !row.isExact || isDense(row, first, end, stage),
      };
      jobs.push(job);
    }
  }
}

function inView(row: TileRow, from: number, to: number): [number, number] {
  if (!row.isExact) {
    return [lowerBound(row.at, from - row.stepNs), lowerBound(row.at, to)];
  }
  return [lowerBound(row.reach, from), lowerBound(row.start, to)];
}

function isDense(row: ExactRow, first: number, end: number, stage: Stage): boolean {
  const count = end - first;
  if (count * PIXELS_PER_SLICE <= stage.width / stage.scale) return false;
  const pixelNs = (stage.view.to - stage.view.from) / stage.width;
  let busy = 0;
  for (let i = first; i < end; ++i) busy += row.end[i]! - row.start[i]!;
  return busy / count < THIN_PX * stage.scale * pixelNs;
}

// Rows with few slices get rectangles first, until there are none left.
export function allot(jobs: readonly RowJob[], most: number): void {
  const exact = jobs.filter((job) => !job.asPixels);
  exact.sort((a, b) => a.end - a.first - (b.end - b.first));
  let left = most;
  for (const job of exact) {
    left -= job.end - job.first;
    if (left < 0) job.asPixels = true;
  }
}

export function drawJob(job: RowJob, list: DrawList, stage: Stage): void {
  if (job.asPixels) drawPixels(job, list, stage);
  else drawSlices(job, job.row as ExactRow, list, stage);
}

function colorOf({ row, names }: RowJob, i: number, { isFound }: Stage): number {
  return isFound === null || isFound(names.get(row.name[i]!)) ? row.color[i]! : FAINT;
}

// How much of its time a slice is busy: less than all where it stands for several.
function shareOf({ merged, start, end }: ExactRow, i: number): number {
  return merged ? Math.min(merged.busy[i]! / Math.max(end[i]! - start[i]!, 1), 1) : 1;
}

function labelOf({ names }: RowJob, { name, merged }: ExactRow, i: number): string {
  const label = names.get(name[i]!)?.label ?? "";
  const count = merged?.count[i] ?? 1;
  return count > 1 ? `${count.toLocaleString("en-US")} × ${label} …` : label;
}

function drawSlices(job: RowJob, row: ExactRow, list: DrawList, stage: Stage): void {
  const { view, width, scale } = stage;
  const perNs = width / (view.to - view.from);
  const size = Math.round(11 * scale);
  const leastLabel = LEAST_LABEL_PX * scale;
  const gap = Math.max(1, Math.round(scale));
  for (let i = job.first; i < job.end; ++i) {
    const begin = Math.round((row.start[i]! - view.from) * perNs);
    const stop = Math.round((row.end[i]! - view.from) * perNs);
    // At least a pixel wide, and inside.
    const x = Math.min(Math.max(begin, job.left), job.right - 1);
    let w = Math.max(1, Math.min(stop, job.right) - x);
    if (w > 3 * scale && stop <= job.right) w -= gap;
    const color = colorOf(job, i, stage);
    const least = Math.min(LEAST_PX * scale, job.height);
    const height = Math.ceil(Math.max(shareOf(row, i) * job.height, least));
    const y = job.y + job.height - height;
    list.rects.add(x, y, w, height, color);
    if (w < leastLabel || color === FAINT) continue;
    // Above what is filled, where that is too low for it.
    const isOn = height >= LABELLED_ROW_PX * scale;
    if (!isOn && job.height - height < LABELLED_ROW_PX * scale) continue;
    const text = stage.shorten(labelOf(job, row, i), w - 8 * scale, size);
    if (text === "") continue;
    list.texts.push({
      x: x + 5 * scale,
      y: isOn ? y + height / 2 : job.y + (job.height - height) / 2,
      text,
      color: isOn ? stage.textOn[color]! : INK.ink2,
      size,
      isBold: false,
    });
  }
}

// Sums for each pixel, used again for every row.
const sums = { busy: new Float64Array(0), top: new Float64Array(0) };

function drawPixels(job: RowJob, list: DrawList, stage: Stage): void {
  const width = job.right - job.left;
  const pixels = list.addPixelRow(job.left, job.y, width, job.height, job.ground);
  if (sums.busy.length < width) {
    sums.busy = new Float64Array(width);
    sums.top = new Float64Array(width);
  }
  sums.busy.fill(0, 0, width);
  sums.top.fill(0, 0, width);
  if (job.row.isExact) sumSlices(job, job.row, pixels, stage);
  else sumSteps(job, job.row, pixels, stage);
  const pixelNs = (stage.view.to - stage.view.from) / stage.width;
  const least = Math.max(1, Math.floor((255 * LEAST_PX * stage.scale) / job.height));
  if (job.ground === INK.panel) keepLines(pixels, stage.lines);
  for (let x = 0; x < width; ++x) {
    if (pixels.level[x] === 0) continue;
    const share = Math.min(sums.busy[x]! / pixelNs, 1);
    pixels.level[x] = Math.min(Math.max(least, Math.round(share * 255)), 255);
  }
}

function keepLines(pixels: PixelRow, lines: readonly number[]): void {
  for (const line of lines) {
    const x = line - pixels.x;
    if (x < 0 || x >= pixels.width || pixels.level[x] !== 0) continue;
    pixels.level[x] = 1;
    pixels.color[x] = INK.line;
    sums.busy[x] = Infinity;
  }
}

function addTo(pixels: PixelRow, x: number, busy: number, color: number): void {
  if (x < 0 || x >= pixels.width) return;
  sums.busy[x]! += busy;
  pixels.level[x] = 1;
  // What is looked for is seen however short it is.
  const weight = color === FAINT ? busy * 1e-9 : busy;
  if (weight < sums.top[x]!) return;
  sums.top[x] = weight;
  pixels.color[x] = color;
}

function sumSlices(job: RowJob, row: ExactRow, pixels: PixelRow, stage: Stage): void {
  const { view, width } = stage;
  const pixelNs = (view.to - view.from) / width;
  for (let i = job.first; i < job.end; ++i) {
    const color = colorOf(job, i, stage);
    spread(row.start[i]!, row.end[i]!, shareOf(row, i), color, job, pixels, view.from, pixelNs);
  }
}

function sumSteps(job: RowJob, row: StepRow, pixels: PixelRow, stage: Stage): void {
  const { view, width } = stage;
  const pixelNs = (view.to - view.from) / width;
  for (let i = job.first; i < job.end; ++i) {
    const at = row.at[i]!;
    const share = row.busy[i]! / row.stepNs;
    const color = colorOf(job, i, stage);
    spread(at, at + row.stepNs, share, color, job, pixels, view.from, pixelNs);
  }
}

// What takes `share` of the time from `start` to `end`, over the pixels that it reaches.
function spread(
  start: number,
  end: number,
  share: number,
  color: number,
  job: RowJob,
  pixels: PixelRow,
  from: number,
  pixelNs: number,
): void {
  const x0 = (start - from) / pixelNs - job.left;
  const x1 = (end - from) / pixelNs - job.left;
  const first = Math.floor(x0);
  const last = Math.max(first, Math.ceil(x1) - 1);
  if (first === last) {
    addTo(pixels, first, (x1 - x0) * share * pixelNs, color);
    return;
  }
  const stop = Math.min(last, pixels.width - 1);
  for (let x = Math.max(first, 0); x <= stop; ++x) {
    const part = Math.min(x1, x + 1) - Math.max(x0, x);
    addTo(pixels, x, part * share * pixelNs, color);
  }
}
