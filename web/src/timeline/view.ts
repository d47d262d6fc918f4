// SPDX-License-Identifier: Apache-2.0
// The stretch of time in view, and what moving it means. Pure.

export interface View {
  from: number;
  to: number;
}

// Shorter than this there is nothing to see.
export const SHORTEST_NS = 20;
// Room beside the first and the last event.
const MARGIN = 0.02;
// Of a view, what two events that are far apart take.
const ROOM_FOR_BOTH = 0.8;
// How far beyond the session one can go, in parts of what is in view.
const BEYOND = 0.5;

export function spanOf(view: View): number {
  return view.to - view.from;
}

export function fit(span: readonly [number, number] | null): View {
  if (!span) return { from: 0, to: 1e6 };
  const length = Math.max(span[1] - span[0], SHORTEST_NS);
  return { from: span[0] - length * MARGIN, to: span[1] + length * MARGIN };
}

export function xOf(view: View, width: number, time: number): number {
  return ((time - view.from) / (view.to - view.from)) * width;
}

export function timeOf(view: View, width: number, x: number): number {
  return view.from + (x / width) * (view.to - view.from);
}

// Keeps a view near the session and neither shorter nor longer than makes sense.
export function clampView(view: View, whole: View): View {
  const longest = spanOf(whole) * (1 + BEYOND);
  const length = Math.min(Math.max(spanOf(view), SHORTEST_NS), longest);
  const middle = (view.from + view.to) / 2;
  let from = middle - length / 2;
  from = Math.min(from, whole.to - length * (1 - BEYOND));
  from = Math.max(from, whole.from - length * BEYOND);
  return { from, to: from + length };
}

// `at`: what stays where it is, from 0 at the left to 1 at the right. A factor below 1 zooms in.
export function zoom(view: View, whole: View, at: number, factor: number): View {
  const shortest = SHORTEST_NS / spanOf(view);
  const longest = (spanOf(whole) * (1 + BEYOND)) / spanOf(view);
  const by = Math.min(Math.max(factor, shortest), longest);
  const fixed = view.from + at * spanOf(view);
  const from = fixed - at * spanOf(view) * by;
  return clampView({ from, to: from + spanOf(view) * by }, whole);
}

// In parts of what is in view.
export function pan(view: View, whole: View, by: number): View {
  const ns = by * spanOf(view);
  return clampView({ from: view.from + ns, to: view.to + ns }, whole);
}

// An event with some room around it.
export function around(start: number, end: number, whole: View): View {
  const length = Math.max(end - start, SHORTEST_NS / 2);
  return clampView({ from: start - length * 0.5, to: start + length * 1.5 }, whole);
}

// Moves no more than it must to have a range in view, and never changes the zoom.
export function reveal(view: View, whole: View, start: number, end: number): View {
  const length = spanOf(view);
  if (start >= view.from && Math.min(end, start + length * 0.2) <= view.to) return view;
  const middle = (start + Math.min(end, start + length)) / 2;
  return clampView({ from: middle - length / 2, to: middle + length / 2 }, whole);
}

// The same for two events at once: where they are too far apart, it zooms out as far as it must.
export function revealBoth(view: View, whole: View, start: number, end: number): View {
  if (start >= view.from && end <= view.to) return view;
  const length = Math.max(end - start, SHORTEST_NS) / ROOM_FOR_BOTH;
  const shown = Math.max(length, spanOf(view));
  const middle = (start + end) / 2;
  return clampView({ from: middle - shown / 2, to: middle + shown / 2 }, whole);
}

// Part of the way from one view to another, for a movement: lengths as a ratio, so that zooming is
// even.
export function between(a: View, b: View, part: number): View {
  if (part >= 1) return b;
  const lengthA = spanOf(a);
  const lengthB = spanOf(b);
  if (Math.abs(lengthA - lengthB) < 1e-9 * lengthA) {
    const from = a.from + (b.from - a.from) * part;
    return { from, to: from + lengthA };
  }
  const length = lengthA * Math.pow(lengthB / lengthA, part);
  const share = (length - lengthA) / (lengthB - lengthA);
  const from = a.from + (b.from - a.from) * share;
  return { from, to: from + length };
}
