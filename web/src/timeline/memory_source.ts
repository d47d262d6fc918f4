// SPDX-License-Identifier: Apache-2.0
// A timeline of what is in memory: rows of blocks, each exact or merged into steps beforehand.
import { inksOf, lowerBound, reachOf } from "./decode";
import { eventAt } from "./hit";
import type {
  Description,
  Direction,
  EventDetail,
  EventRef,
  ExactRow,
  NameEntry,
  SearchResult,
  SeriesPicture,
  SeriesRequest,
  SeriesTile,
  StepRow,
  Tile,
  TileRequest,
  TileRow,
  TimelineSource,
  TrackKind,
  TrackSum,
} from "./types";

export interface MemoryRow {
  row: number;
  // Exact: starts and durations of events, by start. Where neighbours are one, `count` and `busy`
  // say how many and how long.
  start?: ArrayLike<number>;
  duration?: ArrayLike<number>;
  // Merged: steps of `stepNs` that begin at `at`.
  stepNs?: number;
  at?: readonly number[];
  count?: readonly number[];
  busy?: readonly number[];
  // Of each event or step, an index into the names.
  name: readonly number[];
}

export interface MemoryTrack {
  id: string;
  names: readonly NameEntry[];
  rows: readonly MemoryRow[];
}

export interface MemoryData {
  description: Description;
  tracks: readonly MemoryTrack[];
  series: readonly { id: string; time: readonly number[]; value: readonly number[] }[];
  // By id of an event, "TRACK/ROW/INDEX".
  details?: Readonly<Record<string, Partial<EventDetail>>>;
}

interface Held {
  id: string;
  names: ReadonlyMap<number, NameEntry>;
  rows: TileRow[];
}

type Names = ReadonlyMap<number, NameEntry>;

function hold({ id, rows }: MemoryTrack, table: Names, kind: TrackKind): Held {
  return {
    id,
    names: table,
    rows: rows.map((row): TileRow => {
      const name = Uint32Array.from(row.name);
      const color = inksOf(kind, name, table);
      if (row.at) {
        const at = Float64Array.from(row.at);
        const count = Float64Array.from(row.count ?? []);
        const busy = Float64Array.from(row.busy ?? []);
        const stepNs = row.stepNs ?? 1;
        return { row: row.row, isExact: false, stepNs, at, count, busy, name, color };
      }
      const start = Float64Array.from(row.start ?? []);
      const end = start.map((time, i) => time + (row.duration?.[i] ?? 0));
      const ids = Array.from(start, (_, i) => `${id}/${row.row}/${i}`);
      const reach = reachOf(end);
      const exact: ExactRow = { row: row.row, isExact: true, start, end, reach, name, color, ids };
      if (!row.count || !row.busy) return exact;
      const merged = { count: Float64Array.from(row.count), busy: Float64Array.from(row.busy) };
      return { ...exact, merged };
    }),
  };
}

// Those events of a row that reach into a range, or steps where there are more than `most`.
export function cut(row: TileRow, request: TileRequest): TileRow {
  const { from, to, width, maxEvents } = request;
  if (!row.isExact) {
    const first = lowerBound(row.at, from - row.stepNs + 1);
    return sliceSteps(row, first, lowerBound(row.at, to));
  }
  const first = lowerBound(row.reach, from);
  const end = lowerBound(row.start, to);
  if (end - first > maxEvents) return merge(row, first, end, from, to, width);
  return {
    row: row.row,
    isExact: true,
    start: row.start.slice(first, end),
    end: row.end.slice(first, end),
    reach: row.reach.slice(first, end),
    name: row.name.slice(first, end),
    color: row.color.slice(first, end),
    ids: row.ids.slice(first, end),
    ...(row.merged && {
      merged: {
        count: row.merged.count.slice(first, end),
        busy: row.merged.busy.slice(first, end),
      },
    }),
  };
}

function sliceSteps(row: StepRow, first: number, end: number): StepRow {
  return {
    ...row,
    at: row.at.slice(first, end),
    count: row.count.slice(first, end),
    busy: row.busy.slice(first, end),
    name: row.name.slice(first, end),
    color: row.color.slice(first, end),
  };
}

// How long an event is busy between two times; one that stands for several, evenly.
function partOf({ start, end, merged }: ExactRow, i: number, from: number, to: number): number {
  const part = Math.max(0, Math.min(end[i]!, to) - Math.max(start[i]!, from));
  return merged ? part * Math.min(merged.busy[i]! / Math.max(end[i]! - start[i]!, 1), 1) : part;
}

function merge(
  row: ExactRow,
  first: number,
  end: number,
  from: number,
  to: number,
  width: number,
): StepRow {
  const stepNs = 2 ** Math.max(0, Math.floor(Math.log2((to - from) / width)));
  const base = Math.floor(from / stepNs);
  const steps = Math.ceil(to / stepNs) - base;
  const count = new Float64Array(steps);
  const busy = new Float64Array(steps);
  const most = new Float64Array(steps).fill(-1);
  const name = new Uint32Array(steps);
  const color = new Uint8Array(steps);
  for (let i = first; i < end; ++i) {
    const start = row.start[i]!;
    const stop = row.end[i]!;
    const begin = Math.floor(start / stepNs) - base;
    if (begin >= 0) count[begin]! += row.merged?.count[i] ?? 1;
    const last = Math.min(Math.max(Math.ceil(stop / stepNs) - 1 - base, begin), steps - 1);
    for (let step = Math.max(begin, 0); step <= last; ++step) {
      const left = (base + step) * stepNs;
      const part = partOf(row, i, left, left + stepNs);
      busy[step]! += part;
      if (part <= most[step]!) continue;
      most[step] = part;
      name[step] = row.name[i]!;
      color[step] = row.color[i]!;
    }
  }
  const kept: number[] = [];
  for (let step = 0; step < steps; ++step) if (most[step]! >= 0) kept.push(step);
  return {
    row: row.row,
    isExact: false,
    stepNs,
    at: Float64Array.from(kept, (step) => (base + step) * stepNs),
    count: Float64Array.from(kept, (step) => count[step]!),
    busy: Float64Array.from(kept, (step) => busy[step]!),
    name: Uint32Array.from(kept, (step) => name[step]!),
    color: Uint8Array.from(kept, (step) => color[step]!),
  };
}

export class MemorySource implements TimelineSource {
  private readonly tracks: Held[];

  constructor(private readonly data: MemoryData) {
    const kinds = new Map(data.description.tracks.map(({ id, kind }) => [id, kind]));
    // Tracks may share one list of names.
    const tables = new Map<readonly NameEntry[], Names>();
    this.tracks = data.tracks.map((track) => {
      const table = tables.get(track.names) ?? new Map(track.names.map((name, i) => [i, name]));
      tables.set(track.names, table);
      return hold(track, table, kinds.get(track.id) ?? "scopes");
    });
  }

  async describe(): Promise<Description> {
    return this.data.description;
  }

  async tile(request: TileRequest): Promise<Tile> {
    const wanted = new Set(request.tracks);
    const tracks = this.tracks
      .filter(({ id }) => wanted.has(id))
      .map(({ id, rows, names }) => ({ id, names, rows: rows.map((row) => cut(row, request)) }));
    return { version: this.data.description.version, tracks };
  }

  async series({ from, to, width, series }: SeriesRequest): Promise<SeriesTile> {
    const stepNs = 2 ** Math.max(0, Math.floor(Math.log2((to - from) / width)));
    const wanted = this.data.series.filter(({ id }) => series.includes(id));
    return {
      version: this.data.description.version,
      series: wanted.map(({ id, time, value }) => picture(id, time, value, from, to, stepNs)),
    };
  }

  private *events(): Generator<EventRef> {
    for (const { id, rows, names } of this.tracks) {
      for (const row of rows) {
        if (!row.isExact) continue;
        for (let i = 0; i < row.start.length; ++i) yield eventAt(id, row, i, names);
      }
    }
  }

  async find(event: string, track: string | null): Promise<EventRef> {
    for (const found of this.events()) {
      if (found.event === event && (track === null || found.track === track)) return found;
    }
    throw new Error("There is no such event.");
  }

  async detail(event: EventRef): Promise<EventDetail> {
    const values = {
      name: event.name,
      start_ns: event.start,
      duration_ns: event.end - event.start,
      ...(event.merged && { count: event.merged.count, busy_ns: event.merged.busyNs }),
    };
    const known = event.event === null ? undefined : this.data.details?.[event.event];
    return { values, partner: null, scopes: [], markers: [], ...known };
  }

  async sums(from: number, to: number): Promise<TrackSum[]> {
    return this.tracks.map(({ id, rows, names }) => {
      const byName = new Map<number, { count: number; reaching: number; busyNs: number }>();
      const add = (name: number, count: number, reaching: number, busyNs: number) => {
        const sum = byName.get(name) ?? { count: 0, reaching: 0, busyNs: 0 };
        byName.set(name, {
          count: sum.count + count,
          reaching: sum.reaching + reaching,
          busyNs: sum.busyNs + busyNs,
        });
      };
      let isExact = true;
      let count = 0;
      let reaching = 0;
      let busy = 0;
      for (const row of rows) {
        if (row.isExact) {
          for (let i = 0; i < row.start.length; ++i) {
            const part = partOf(row, i, from, to);
            const begins = row.start[i]! >= from && row.start[i]! < to;
            if (!begins && part <= 0) continue;
            const count = row.merged?.count[i] ?? 1;
            add(row.name[i]!, begins ? count : 0, begins ? 0 : 1, part);
            if (count > 1) isExact = false;
          }
          continue;
        }
        // Of steps, only how many there are is known, and what the most of each is.
        isExact = false;
        for (let i = 0; i < row.at.length; ++i) {
          if (row.at[i]! < from || row.at[i]! >= to) continue;
          count += row.count[i]!;
          busy += row.busy[i]!;
        }
      }
      const list = [...byName].map(([name, sum]) => {
        const entry = names.get(name);
        return { label: entry?.label ?? "?", name: entry?.name ?? "?", ...sum };
      });
      list.sort((a, b) => b.busyNs - a.busyNs);
      for (const sum of list) {
        count += sum.count;
        reaching += sum.reaching;
        busy += sum.busyNs;
      }
      return { id, count, reaching, busyNs: busy, hasAllNames: isExact, names: list };
    });
  }

  async search(text: string, after: number | null, direction: Direction): Promise<SearchResult> {
    const wanted = text.toLowerCase();
    const isForward = direction === "forward";
    let matches = 0;
    let found: EventRef | null = null;
    for (const event of this.events()) {
      if (!event.name.toLowerCase().includes(wanted)) continue;
      ++matches;
      const isAhead = after === null || (isForward ? event.start >= after : event.start < after);
      const isNearer =
        found === null || (isForward ? event.start < found.start : event.start > found.start);
      if (isAhead && isNearer) found = event;
    }
    return { matches, found };
  }
}

function picture(
  id: string,
  time: readonly number[],
  value: readonly number[],
  from: number,
  to: number,
  stepNs: number,
): SeriesPicture {
  const steps: { at: number; min: number; max: number; last: number }[] = [];
  time.forEach((moment, i) => {
    if (moment < from || moment >= to) return;
    const at = Math.floor(moment / stepNs) * stepNs;
    const reading = value[i]!;
    const step = steps.at(-1);
    if (step?.at === at) {
      step.min = Math.min(step.min, reading);
      step.max = Math.max(step.max, reading);
      step.last = reading;
    } else {
      steps.push({ at, min: reading, max: reading, last: reading });
    }
  });
  const column = (name: "at" | "min" | "max" | "last") =>
    Float64Array.from(steps, (step) => step[name]);
  return {
    id,
    stepNs,
    at: column("at"),
    min: column("min"),
    max: column("max"),
    last: column("last"),
  };
}
