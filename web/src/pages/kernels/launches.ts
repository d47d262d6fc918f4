// SPDX-License-Identifier: Apache-2.0
// Launches of one kernel, and where their dots lie.

import type { LaunchList } from "../../api/types";

export interface Launch {
  event: string;
  // "kernels:0:1:7"
  track: string;
  start: number;
  duration: number;
}

export const FIRST_LAUNCHES = 10_000;
// Of a kernel with more: so many stretches of so many launches each, without gaps that could be taken
// for pauses of the program.
export const OF_STRETCH = 150;
const STRETCHES = 48;
const MAX_DOTS = 4000;

export function launchesOf({ tracks, start_ns, duration_ns, track, event }: LaunchList): Launch[] {
  let start = 0;
  return event.map((id, i) => {
    start += start_ns[i] ?? 0;
    return { event: id, track: tracks[track[i] ?? 0] ?? "", start, duration: duration_ns[i] ?? 0 };
  });
}

// Where more of a kernel is looked at that has more launches than the first answer: stretches that
// lie evenly in time.
export function laterStretches({ next_from, span }: LaunchList): number[] {
  if (next_from === null || span === null) return [];
  const [from, to] = span;
  return Array.from({ length: STRETCHES - 1 }, (_, i) =>
    Math.floor(from + ((to - from) * (i + 1)) / STRETCHES),
  );
}

// All of a kernel, or as much of its beginning as of each later stretch.
export function firstStretch(list: LaunchList): LaunchList {
  return list.next_from === null ? list : { ...list, event: list.event.slice(0, OF_STRETCH) };
}

// What the plot has to reach from and to: the launches, and where only some were looked at the session.
export function reachOf(list: LaunchList | undefined): [number, number] | null {
  return list === undefined || list.next_from === null ? null : list.span;
}

// Stretches may reach into one another.
export function mergeLaunches(parts: LaunchList[]): Launch[] {
  const all = new Map<string, Launch>();
  for (const launch of parts.flatMap(launchesOf)) all.set(launch.event, launch);
  return [...all.values()].sort((a, b) => a.start - b.start);
}

// "GPU 0, stream 7"
export function streamOf({ track }: Launch): string {
  const [, device, , stream] = track.split(":");
  return `GPU ${device}, stream ${stream}`;
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
  // Times at the ends.
  first: number;
  last: number;
}

const STEPS = [1, 2, 2.5, 5, 10];

export function plotOf(
  launches: Launch[],
  width: number,
  height: number,
  reach: [number, number] | null = null,
): Plot {
  const starts = launches.map(({ start }) => start);
  const times = launches.map(({ duration }) => duration);
  const [first, last] = reach ?? [starts[0] ?? 0, starts[starts.length - 1] ?? starts[0] ?? 0];
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
    first,
    last,
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
