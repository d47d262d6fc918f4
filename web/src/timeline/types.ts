// SPDX-License-Identifier: Apache-2.0
// What a timeline is fed with. The pages of the dashboard ask a server, a report has everything in
// memory; the timeline knows neither. Times are whole nanoseconds since the session began.
import type { Group } from "./tracks";

export type TrackKind =
  | "kernels"
  | "copies"
  | "fills"
  | "graphs"
  | "kernel_calls"
  | "copy_calls"
  | "fill_calls"
  | "graph_calls"
  | "memory_calls"
  | "api_calls"
  | "waits"
  | "scopes"
  | "markers"
  | "warps"
  | "coverage";

export interface TrackInfo {
  id: string;
  kind: TrackKind;
  // Slices that overlap are in rows of their own.
  rows: number;
  events: number;
  device?: number;
  context?: number;
  stream?: number;
  thread?: number;
  thread_name?: string;
  // Of markers, who made them: "torch.op".
  domain?: string;
  launch?: number;
  block?: number;
  group?: number;
  engine?: string;
}

export interface SeriesInfo {
  id: string;
  // pm_sample: a hardware counter of a GPU, by the vendor's name for it.
  kind: "device_metric" | "host_metric" | "counter" | "pm_sample";
  device?: number;
  index: number;
  // With its unit: "power_mw".
  metric: string;
}

export interface Description {
  // Changes when there is more: what was read before is out of date then.
  version: number;
  isLive: boolean;
  isComplete: boolean;
  // How much of the session is read, 0 to 1.
  progress: number;
  // Of everything, or null where nothing has happened.
  span: readonly [number, number] | null;
  tracks: readonly TrackInfo[];
  series: readonly SeriesInfo[];
  problems: readonly string[];
  devices: readonly { device: number; name: string }[];
  // "gpt_training · rank 0".
  process: string;
  // Of launches whose warps were recorded: the kernel, and what it calls its groups of warps.
  launches?: readonly { launch: number; kernel: string; groups: readonly string[] }[];
  // In place of those that follow from the tracks: a run has several processes.
  groups?: readonly Group[];
}

export interface NameEntry {
  // Short, as tables show it.
  label: string;
  // Whole.
  name: string;
  kernelClass?: string;
}

// Every event of a row that reaches into the range, by start.
export interface ExactRow {
  row: number;
  isExact: true;
  start: Float64Array;
  end: Float64Array;
  // The latest end up to each event; the same array as `end` where ends rise.
  reach: Float64Array;
  name: Uint32Array;
  // Index into the palette.
  color: Uint8Array;
  // Null: an event that has not ended and has no id yet.
  ids: readonly (string | null)[];
  // Where neighbours are one: how many each stands for, and how long they took.
  merged?: { count: Float64Array; busy: Float64Array };
}

// A row in steps of time, without those in which nothing happened.
export interface StepRow {
  row: number;
  isExact: false;
  stepNs: number;
  // Where steps begin, in nanoseconds.
  at: Float64Array;
  // Events that begin in a step, and how much of it they take.
  count: Float64Array;
  busy: Float64Array;
  // Of the name with the most time.
  name: Uint32Array;
  color: Uint8Array;
}

export type TileRow = ExactRow | StepRow;

export interface TileTrack {
  id: string;
  rows: TileRow[];
  names: ReadonlyMap<number, NameEntry>;
}

export interface TileRequest {
  from: number;
  to: number;
  // Steps are the longest power of two that is not longer than (to - from) / width.
  width: number;
  tracks: readonly string[];
  // A row with more events than this comes in steps.
  maxEvents: number;
}

export interface Tile {
  version: number;
  tracks: TileTrack[];
}

export interface SeriesRequest {
  from: number;
  to: number;
  width: number;
  series: readonly string[];
}

export interface SeriesPicture {
  id: string;
  stepNs: number;
  at: Float64Array;
  min: Float64Array;
  max: Float64Array;
  last: Float64Array;
}

export interface SeriesTile {
  version: number;
  series: SeriesPicture[];
}

export interface EventRef {
  track: string;
  row: number;
  // Its place in the log; null: it has none yet.
  event: string | null;
  start: number;
  end: number;
  label: string;
  name: string;
  kernelClass?: string | undefined;
  // It stands for several, of which the one with the most time gives it its name.
  merged?: { count: number; busyNs: number };
}

export interface Around {
  label: string;
  // What recorded it: "torch.op", "torch.module".
  domain: string;
}

// The line of the user's own code.
export interface Site {
  // "train.py:41 in step()"
  text: string;
  file: string;
  line: number;
  // What the line says, where the log has it.
  source: string | null;
}

export interface Frame {
  text: string;
  origin: "user" | "library" | "internal";
}

export interface EventDetail {
  // Everything that the log has of it.
  values: Readonly<Record<string, unknown>>;
  // The API call behind work on the GPU, or the work behind a call.
  partner: EventRef | null;
  // Of a launch of a graph: what its nodes did.
  work?: readonly EventRef[];
  // What was open on its thread when it was called, the outermost first.
  scopes: readonly string[];
  markers: readonly Around[];
  site?: Site | null;
  // The innermost first.
  frames?: readonly Frame[];
}

export interface NameSum {
  label: string;
  name: string;
  // That begin in the range, and that began before it and reach into it.
  count: number;
  reaching: number;
  busyNs: number;
}

export interface TrackSum {
  id: string;
  count: number;
  reaching: number;
  busyNs: number;
  hasAllNames: boolean;
  names: readonly NameSum[];
}

export interface SearchResult {
  matches: number;
  found: EventRef | null;
}

export type Direction = "forward" | "backward";

export interface RowRange {
  track: string;
  row: number;
  from: number;
  to: number;
}

// Throws Pending while it has nothing to tell yet.
export interface TimelineSource {
  describe(signal?: AbortSignal): Promise<Description>;
  tile(request: TileRequest, signal?: AbortSignal): Promise<Tile>;
  series(request: SeriesRequest, signal?: AbortSignal): Promise<SeriesTile>;
  // An event by its id; the track tells the call from the work where both have one row of the log.
  // `start` finds it where its id has changed.
  find(
    event: string,
    track: string | null,
    start: number | null,
    signal?: AbortSignal,
  ): Promise<EventRef>;
  // Events of a row that begin in a range, by start: of rows that come in steps.
  begins?(row: RowRange, signal?: AbortSignal): Promise<EventRef[]>;
  detail(event: EventRef, signal?: AbortSignal): Promise<EventDetail>;
  sums(from: number, to: number, signal?: AbortSignal): Promise<TrackSum[]>;
  search(
    text: string,
    after: number | null,
    direction: Direction,
    signal?: AbortSignal,
  ): Promise<SearchResult>;
}

// An answer that is being computed, or has to wait for others.
export class Pending extends Error {
  constructor(
    readonly progress: number | null,
    readonly waitMs: number | null = null,
  ) {
    super("not there yet");
  }
}

export const WORK_OF_CALL: Partial<Record<TrackKind, TrackKind>> = {
  kernel_calls: "kernels",
  copy_calls: "copies",
  fill_calls: "fills",
  graph_calls: "graphs",
};

export const CALL_OF_WORK: Partial<Record<TrackKind, TrackKind>> = {
  kernels: "kernel_calls",
  copies: "copy_calls",
  fills: "fill_calls",
  graphs: "graph_calls",
};

export function kindOf(track: string): TrackKind {
  const at = track.indexOf(":");
  return (at < 0 ? track : track.slice(0, at)) as TrackKind;
}
