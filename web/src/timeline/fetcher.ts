// SPDX-License-Identifier: Apache-2.0
// Asks for what is in view and not there yet: one request for all tracks, one for all series, never
// more than one of each at a time.
import { bytesOf, bytesOfSeries } from "./decode";
import { valueAt } from "./draw_series";
import { levelOf, needed, type Stretch, stretchFor } from "./fetch_plan";
import { type Segment, TileCache } from "./tile_cache";
import {
  Pending,
  type SeriesPicture,
  type SeriesTile,
  type Tile,
  type TimelineSource,
  type TileTrack,
} from "./types";
import type { View } from "./view";

const TILE_BYTES = 96 * 2 ** 20;
const SERIES_BYTES = 16 * 2 ** 20;
const MOST_EVENTS = 2000;
// Ids in an address, by what the server takes.
const LONGEST_IDS = 6500;
const MOST_TRACKS = 1000;
const AGAIN_MS = 500;
// A server that was started again is not waited for longer.
const LONGEST_WAIT_MS = 5000;
const WHOLE_PIXELS = 1000;

interface Flight {
  stretch: Stretch;
  version: number;
  keys: ReadonlySet<string>;
  abort: AbortController;
}

export interface Wanted {
  view: View;
  // Of the whole session.
  whole: View;
  pixels: number;
  version: number;
  tracks: readonly string[];
  series: readonly string[];
}

export interface FetchEvents {
  // There is something to draw, or it is time to ask again.
  onWake: () => void;
  onAnswer: () => void;
  onSeries: (series: readonly SeriesPicture[]) => void;
  onProblem: (error: unknown) => void;
}

// One kind of request.
class Lane<Answer, Data> {
  readonly cache: TileCache<Data>;
  private flight: Flight | null = null;
  private waitsUntil = 0;
  private failures = 0;
  private timer = 0;

  constructor(
    bytes: number,
    private readonly ask: (
      stretch: Stretch,
      keys: string[],
      signal: AbortSignal,
    ) => Promise<Answer>,
    private readonly store: (answer: Answer, stretch: Stretch, lane: TileCache<Data>) => void,
    private readonly after: (error: unknown) => void,
  ) {
    this.cache = new TileCache(bytes);
  }

  get isBusy(): boolean {
    return this.flight !== null;
  }

  stop(): void {
    this.flight?.abort.abort();
    this.flight = null;
    clearTimeout(this.timer);
  }

  // False: everything is there.
  want(wanted: Wanted, keys: readonly string[], now: number): boolean {
    const { view, whole, pixels, version } = wanted;
    const level = levelOf(view, pixels);
    const { from, to } = needed(view, whole);
    const missing = keys.filter((key) => !this.cache.has(key, from, to, level, version));
    if (missing.length === 0) return false;
    if (now < this.waitsUntil) return true;
    if (this.flight && this.isUseful(this.flight, wanted, missing)) return true;
    this.stop();
    this.start(stretchFor(view, pixels, whole), fitting(missing), version);
    return true;
  }

  // Whether to wait for what is on its way: it shows something of the view, if not as wanted.
  private isUseful({ stretch, version, keys }: Flight, wanted: Wanted, missing: string[]): boolean {
    const { view, whole, pixels } = wanted;
    const isNear = Math.abs(stretch.level - levelOf(view, pixels)) <= 1;
    const part = needed(view, whole);
    const overlap = Math.min(part.to, stretch.to) - Math.max(part.from, stretch.from);
    const isThere = overlap >= 0.5 * (part.to - part.from);
    return isNear && isThere && version === wanted.version && missing.some((key) => keys.has(key));
  }

  private start(stretch: Stretch, keys: string[], version: number): void {
    const abort = new AbortController();
    const flight: Flight = { stretch, version, keys: new Set(keys), abort };
    this.flight = flight;
    const done = (error: unknown) => {
      if (this.flight !== flight) return;
      this.flight = null;
      clearTimeout(this.timer);
      this.failures = error === null || error instanceof Pending ? 0 : this.failures + 1;
      if (error !== null) {
        const said = error instanceof Pending ? error.waitMs : null;
        const wait = said ?? Math.min(AGAIN_MS * 2 ** this.failures, LONGEST_WAIT_MS);
        this.waitsUntil = performance.now() + wait;
        this.timer = setTimeout(() => this.after(null), wait + 1) as unknown as number;
      }
      this.after(error);
    };
    this.ask(stretch, keys, abort.signal).then(
      (answer) => {
        if (abort.signal.aborted) return;
        this.store(answer, stretch, this.cache);
        done(null);
      },
      (error: unknown) => {
        if (!abort.signal.aborted) done(error);
      },
    );
  }
}

function fitting(keys: readonly string[]): string[] {
  let length = 0;
  let count = 0;
  for (const key of keys) {
    length += key.length + 3;
    if (length > LONGEST_IDS || count >= MOST_TRACKS) break;
    ++count;
  }
  return keys.slice(0, Math.max(count, 1));
}

export class Fetcher {
  private readonly tiles: Lane<Tile, TileTrack>;
  private readonly readings: Lane<SeriesTile, SeriesPicture>;

  constructor(source: TimelineSource, events: FetchEvents) {
    const after = (error: unknown) => {
      if (error === null || error instanceof Pending) events.onWake();
      else events.onProblem(error);
    };
    this.tiles = new Lane<Tile, TileTrack>(
      TILE_BYTES,
      ({ from, to, width }, tracks, signal) =>
        source.tile({ from, to, width, tracks, maxEvents: MOST_EVENTS }, signal),
      ({ version, tracks }, { from, to, level }, cache) => {
        for (const data of tracks) {
          const isExact = data.rows.every((row) => row.isExact);
          const bytes = bytesOf(data);
          cache.add({ key: data.id, from, to, level, version, isExact, bytes, data });
        }
        events.onAnswer();
      },
      after,
    );
    this.readings = new Lane<SeriesTile, SeriesPicture>(
      SERIES_BYTES,
      ({ from, to, width }, series, signal) => source.series({ from, to, width, series }, signal),
      ({ version, series }, { from, to, level }, cache) => {
        for (const data of series) {
          const bytes = bytesOfSeries(data);
          cache.add({ key: data.id, from, to, level, version, isExact: false, bytes, data });
        }
        events.onSeries(series);
        events.onAnswer();
      },
      after,
    );
  }

  get isBusy(): boolean {
    return this.tiles.isBusy || this.readings.isBusy;
  }

  // True: everything is there.
  want(wanted: Wanted): boolean {
    const now = performance.now();
    const lacksTiles = this.tiles.want(wanted, wanted.tracks, now);
    // Of readings the whole session first: scales come from it, and lines go on where a view has
    // no reading of its own.
    const all = { ...wanted, view: wanted.whole, pixels: WHOLE_PIXELS };
    const lacksReadings =
      this.readings.want(all, wanted.series, now) || this.readings.want(wanted, wanted.series, now);
    return !lacksTiles && !lacksReadings;
  }

  // Whether something in view has no picture at all yet.
  lacks({ view, whole, tracks, series }: Wanted): boolean {
    const { from, to } = needed(view, whole);
    return (
      tracks.some((key) => !this.tiles.cache.shows(key, from, to)) ||
      series.some((key) => !this.readings.cache.shows(key, from, to))
    );
  }

  wholeSeries(key: string, whole: View): SeriesPicture | null {
    const level = levelOf(whole, WHOLE_PIXELS);
    const segments = this.readings.cache.segments(key, whole.from, whole.to, level);
    return segments.find(({ entry }) => entry.level === level)?.entry.data ?? null;
  }

  tracksIn(key: string, view: View, level: number): Segment<TileTrack>[] {
    return this.tiles.cache.segments(key, view.from, view.to, level);
  }

  seriesIn(key: string, view: View, level: number): Segment<SeriesPicture>[] {
    return this.readings.cache.segments(key, view.from, view.to, level);
  }

  // What a series reads at a moment.
  readingAt(key: string, time: number, view: View, level: number, whole: View): number | null {
    const segments = this.seriesIn(key, view, level);
    const here = segments.find(({ from, to }) => from <= time && time <= to);
    const all = this.wholeSeries(key, whole);
    return (here && valueAt(here.entry.data, time)) ?? (all && valueAt(all, time));
  }

  stop(): void {
    this.tiles.stop();
    this.readings.stop();
  }
}
