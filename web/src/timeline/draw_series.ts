// SPDX-License-Identifier: Apache-2.0
// Readings as a line on the axis of the tracks. A reading holds until the next one.
import { lowerBound } from "./decode";
import type { Line } from "./draw_list";
import type { Segment } from "./tile_cache";
import type { SeriesPicture } from "./types";
import { xOf, type View } from "./view";

export interface Scale {
  least: number;
  most: number;
}

// Grows with every picture, so that a line does not jump when the view moves.
export function growScale(
  scale: Scale | undefined,
  picture: SeriesPicture,
  fromZero: boolean,
): Scale | undefined {
  let least = scale?.least ?? (fromZero ? 0 : Infinity);
  let most = scale?.most ?? -Infinity;
  for (let i = 0; i < picture.at.length; ++i) {
    least = Math.min(least, picture.min[i]!);
    most = Math.max(most, picture.max[i]!);
  }
  return most === -Infinity ? scale : { least, most };
}

export function heightOf(value: number, scale: Scale, y: number, height: number): number {
  const span = scale.most - scale.least;
  // What never changes is a line in the middle.
  if (span === 0) return y + height / 2;
  return y + height - ((value - scale.least) / span) * height;
}

// The reading that holds at a moment.
export function valueAt(picture: SeriesPicture, time: number): number | null {
  const after = lowerBound(picture.at, time + 1e-9);
  return after === 0 ? null : picture.last[after - 1]!;
}

export function lineOf(
  segments: readonly Segment<SeriesPicture>[],
  whole: SeriesPicture | null,
  scale: Scale,
  view: View,
  box: { y: number; width: number; height: number; color: number; lineWidth: number },
): Line | null {
  const { width } = box;
  const points: number[] = [];
  let lastY = NaN;
  const add = (time: number, value: number) => {
    const x = xOf(view, width, time);
    const y = heightOf(value, scale, box.y, box.height);
    // A reading holds, so the line goes on flat and then steps.
    if (points.length > 0 && y !== lastY) points.push(x, lastY);
    points.push(x, y);
    lastY = y;
  };
  const before = whole && valueAt(whole, view.from);
  if (before !== null) add(view.from, before);
  let latest = -Infinity;
  for (const { entry, from, to } of segments) {
    const { at, min, max, last } = entry.data;
    const end = lowerBound(at, to);
    for (let i = lowerBound(at, from); i < end; ++i) {
      const time = at[i]!;
      if (max[i]! > last[i]!) add(time, max[i]!);
      if (min[i]! < last[i]!) add(time, min[i]!);
      add(time, last[i]!);
      latest = time;
    }
  }
  if (points.length === 0) return null;
  const final = whole && whole.at.length > 0 ? whole.at[whole.at.length - 1]! : latest;
  const until = Math.min(view.to, Math.max(final, latest));
  if (until > view.from) points.push(xOf(view, width, until), lastY);
  if (points.length < 4) return null;
  return { points, color: box.color, width: box.lineWidth, base: box.y + box.height };
}
