// SPDX-License-Identifier: Apache-2.0
// Launches of one kernel out of tiles, and where their dots lie.

import type { Tile, TrackInfo } from "../../api/types";

export interface Launch {
  event: string;
  start: number;
  duration: number;
}

export interface Slice {
  from: number;
  to: number;
}

const MAX_EVENTS = 40_000;
export const MAX_SLICES = 4;
const MAX_DOTS = 4000;

export function kernelTracks(tracks: TrackInfo[]): TrackInfo[] {
  return tracks.filter(({ kind }) => kind === "kernels");
}

// The stretches whose events are fetched: all of it where that is not too much, else some that lie
// evenly in time.
export function slicesOf(tracks: TrackInfo[]): { slices: Slice[]; share: number } {
  const events = tracks.reduce((sum, track) => sum + track.events, 0);
  if (events === 0) return { slices: [], share: 1 };
  const spans = tracks.flatMap(({ span }) => (span ? [span] : []));
  const from = Math.min(...spans.map(([begin]) => begin));
  const to = Math.max(...spans.map(([, end]) => end)) + 1;
  if (events <= MAX_EVENTS) return { slices: [{ from, to }], share: 1 };
  const share = MAX_EVENTS / events;
  const whole = (to - from) / MAX_SLICES;
  const slices = Array.from({ length: MAX_SLICES }, (_, i) => {
    const begin = Math.floor(from + whole * i + (whole * (1 - share)) / 2);
    return { from: begin, to: begin + Math.max(Math.ceil(whole * share), 1) };
  });
  return { slices, share };
}

// Of a stretch that is so dense that its rows come in steps, nothing can be told.
export function launchesIn(
  tiles: Pick<Tile, "tracks" | "names">,
  kernel: string,
): { launches: Launch[]; isWhole: boolean } {
  const wanted = new Set<number>();
  for (const [id, { label, name }] of Object.entries(tiles.names.kernels ?? {})) {
    if ((name ?? label) === kernel) wanted.add(Number(id));
  }
  const launches: Launch[] = [];
  let isWhole = true;
  for (const row of tiles.tracks.flatMap(({ rows }) => rows)) {
    if (!row.is_exact) {
      isWhole = false;
      continue;
    }
    let start = 0;
    for (let i = 0; i < row.start_ns.length; i += 1) {
      start += row.start_ns[i] ?? 0;
      if (!wanted.has(row.name[i] ?? -1)) continue;
      launches.push({ event: row.event[i] ?? "", start, duration: row.duration_ns[i] ?? 0 });
    }
  }
  launches.sort((a, b) => a.start - b.start);
  return { launches, isWhole };
}

// As many as can be told apart. The longest are what people look for: they stay.
export function thin(launches: Launch[], most = MAX_DOTS): Launch[] {
  if (launches.length <= most) return launches;
  const longest = new Set(
    [...launches].sort((a, b) => b.duration - a.duration).slice(0, Math.floor(most / 10)),
  );
  const step = launches.length / (most - longest.size);
  let next = 0;
  return launches.filter((launch, i) => {
    if (longest.has(launch)) return true;
    if (i < next) return false;
    next += step;
    return true;
  });
}

export interface Plot {
  x: (start: number) => number;
  y: (duration: number) => number;
  ticks: number[];
}

const STEPS = [1, 2, 2.5, 5, 10];

export function plotOf(launches: Launch[], width: number, height: number): Plot {
  const starts = launches.map(({ start }) => start);
  const times = launches.map(({ duration }) => duration);
  const first = starts[0] ?? 0;
  const last = starts[starts.length - 1] ?? first;
  const low = times.reduce((a, b) => Math.min(a, b), Infinity);
  const high = times.reduce((a, b) => Math.max(a, b), 0);
  const spread = Math.max(high - low, high * 0.1, 1);
  const bottom = Math.max((Number.isFinite(low) ? low : 0) - spread * 0.15, 0);
  const top = high + spread * 0.15;
  const rough = (top - bottom) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (STEPS.find((s) => s * power >= rough) ?? 10);
  const ticks: number[] = [];
  for (let tick = Math.ceil(bottom / step) * step; tick <= top; tick += step) ticks.push(tick);
  return {
    x: (start) => (last === first ? width / 2 : ((start - first) / (last - first)) * width),
    y: (duration) => height - ((duration - bottom) / (top - bottom)) * height,
    ticks,
  };
}

// The one under the pointer; null: none is near.
export function nearest(
  launches: Launch[],
  plot: Plot,
  x: number,
  y: number,
  reach = 14,
): number | null {
  let found: number | null = null;
  let best = reach * reach;
  launches.forEach(({ start, duration }, i) => {
    const distance = (plot.x(start) - x) ** 2 + (plot.y(duration) - y) ** 2;
    if (distance < best) [best, found] = [distance, i];
  });
  return found;
}
