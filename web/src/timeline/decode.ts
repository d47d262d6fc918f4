// SPDX-License-Identifier: Apache-2.0
// Answers of the server as typed columns, once: drawing reads them many times.
import type {
  SeriesPicture as JsonSeries,
  Tile as JsonTile,
  TileRow as JsonRow,
} from "../api/types";
import { inkOf } from "./palette";
import {
  kindOf,
  type NameEntry,
  type SeriesPicture,
  type TileRow,
  type TileTrack,
  type TrackKind,
} from "./types";

// Each number is what to add to the one before.
export function sumUp(deltas: readonly number[], factor = 1): Float64Array {
  const result = new Float64Array(deltas.length);
  let sum = 0;
  for (let i = 0; i < deltas.length; ++i) {
    sum += deltas[i]!;
    result[i] = sum * factor;
  }
  return result;
}

export function reachOf(end: Float64Array): Float64Array {
  for (let i = 1; i < end.length; ++i) {
    if (end[i]! >= end[i - 1]!) continue;
    const reach = end.slice();
    for (; i < reach.length; ++i) reach[i] = Math.max(reach[i]!, reach[i - 1]!);
    return reach;
  }
  return end;
}

type Names = ReadonlyMap<number, NameEntry>;

export function inksOf(kind: TrackKind, ids: ArrayLike<number>, names: Names): Uint8Array {
  const known = new Map<number, number>();
  const result = new Uint8Array(ids.length);
  for (let i = 0; i < ids.length; ++i) {
    const id = ids[i]!;
    let ink = known.get(id);
    if (ink === undefined) {
      const entry = names.get(id);
      ink = inkOf(kind, entry?.kernelClass, entry?.label ?? "");
      known.set(id, ink);
    }
    result[i] = ink;
  }
  return result;
}

function decodeRow(json: JsonRow, kind: TrackKind, names: Names): TileRow {
  const name = Uint32Array.from(json.name);
  const color = inksOf(kind, name, names);
  if (!json.is_exact) {
    const stepNs = json.step_ns;
    return {
      row: json.row,
      isExact: false,
      stepNs,
      at: sumUp(json.step, stepNs),
      count: Float64Array.from(json.count),
      busy: Float64Array.from(json.busy_ns),
      name,
      color,
    };
  }
  const start = sumUp(json.start_ns);
  const end = start.map((time, i) => time + json.duration_ns[i]!);
  const ids = json.event;
  return { row: json.row, isExact: true, start, end, reach: reachOf(end), name, color, ids };
}

export function decodeTile(json: Pick<JsonTile, "tracks" | "names">): TileTrack[] {
  const tables = new Map<TrackKind, Names>();
  const tableOf = (kind: TrackKind): Names => {
    let table = tables.get(kind);
    if (!table) {
      const entries = Object.entries(json.names[kind] ?? {});
      table = new Map(
        entries.map(([id, { label, name, class: kernelClass }]) => [
          Number(id),
          { label, name: name ?? label, ...(kernelClass === undefined ? {} : { kernelClass }) },
        ]),
      );
      tables.set(kind, table);
    }
    return table;
  };
  return json.tracks.map(({ id, rows }) => {
    const kind = kindOf(id);
    const names = tableOf(kind);
    return { id, rows: rows.map((row) => decodeRow(row, kind, names)), names };
  });
}

export function decodeSeries(json: Omit<JsonSeries, "metric" | "count" | "mean">): SeriesPicture {
  return {
    id: json.id,
    stepNs: json.step_ns,
    at: sumUp(json.step, json.step_ns),
    min: Float64Array.from(json.min),
    max: Float64Array.from(json.max),
    last: Float64Array.from(json.last),
  };
}

// What a track takes in memory, about.
export function bytesOf({ rows }: TileTrack): number {
  let sum = 200;
  for (const row of rows) {
    const perEntry = row.isExact ? 8 + 8 + 4 + 1 + 40 : 8 * 3 + 4 + 1;
    sum += 100 + perEntry * row.name.length;
  }
  return sum;
}

export function bytesOfSeries(picture: SeriesPicture): number {
  return 200 + 32 * picture.at.length;
}

// The first index whose value is at least `wanted`.
export function lowerBound(values: Float64Array, wanted: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
