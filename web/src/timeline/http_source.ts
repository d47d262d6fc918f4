// SPDX-License-Identifier: Apache-2.0
// A timeline of a session that a server has.
import { type Answer, ask, type Parameters, Problem } from "../api/client";
import { type SessionRoute, sessionPath } from "../api/paths";
import type { EventDetail as JsonDetail, TrackList } from "../api/types";
import type { Answers } from "../api/wire";
import { decodeSeries, decodeTile } from "./decode";
import { detailOf, operatorOf, partOf, refOf } from "./event_around";
import { eventAt } from "./hit";
import {
  type Description,
  type Direction,
  type EventDetail,
  type EventRef,
  Pending,
  type RowRange,
  type SearchResult,
  type SeriesRequest,
  type SeriesTile,
  type Tile,
  type TileRequest,
  type TimelineSource,
  type TrackSum,
} from "./types";

// What the session's own description says of it.
export interface SessionFacts {
  process: string;
  // From its beginning, which is 0, to its end; null: nobody knows.
  lengthNs?: number | null;
  devices: readonly { device: number; name: string }[];
  launches?: NonNullable<Description["launches"]>;
}

// Time in which nothing happened is a part of the session, at its ends, too.
function spanOf(events: TrackList["span"], lengthNs: number): readonly [number, number] | null {
  return events && [Math.min(events[0], 0), Math.max(events[1], lengthNs)];
}

export function describe(json: TrackList, facts: SessionFacts): Description {
  const { bytes, of } = json.indexed;
  const { lengthNs = null, ...shown } = facts;
  return {
    version: json.version,
    isLive: json.is_live,
    isComplete: json.is_complete,
    progress: of === 0 ? 1 : bytes / of,
    span: lengthNs === null ? json.span : spanOf(json.span, lengthNs),
    tracks: json.tracks,
    series: json.series,
    problems: json.problems,
    ...shown,
  };
}

// While too many ask at once.
const BUSY = 503;
const GONE = 404;
const MOST_LISTED = 10_000;

export class HttpSource implements TimelineSource {
  private tracks: ReadonlySet<string> = new Set();
  // Of the event that was found last: its details are asked for next.
  private found: { event: string; row: JsonDetail } | null = null;

  constructor(
    private readonly session: string,
    private facts: SessionFacts,
  ) {}

  private async get<Rest extends SessionRoute>(
    route: Rest,
    parameters: Parameters,
    signal?: AbortSignal,
    ...ids: string[]
  ): Promise<Answers[`/sessions/{}${Rest}`]> {
    let answer: Answer<Answers[`/sessions/{}${Rest}`]>;
    try {
      answer = await ask(sessionPath(this.session, route, ...ids), parameters, signal);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== BUSY) throw error;
      throw new Pending(null, 1000 * (error.retryAfterS ?? 1));
    }
    if (answer.state === "running") throw new Pending(answer.progress);
    return answer.data;
  }

  async describe(signal?: AbortSignal): Promise<Description> {
    return this.use(await this.get("/tracks", {}, signal));
  }

  // For pages that have the answer already.
  use(json: TrackList, facts: SessionFacts = this.facts): Description {
    this.facts = facts;
    this.tracks = new Set(json.tracks.map(({ id }) => id));
    return describe(json, facts);
  }

  async tile(request: TileRequest, signal?: AbortSignal): Promise<Tile> {
    const { from, to, width, tracks, maxEvents } = request;
    const parameters = { from, to, width, max_events: maxEvents, tracks: tracks.join(",") };
    const json = await this.get("/tiles", parameters, signal);
    return { version: json.version, tracks: decodeTile(json) };
  }

  async series(request: SeriesRequest, signal?: AbortSignal): Promise<SeriesTile> {
    const { from, to, width, series } = request;
    const parameters = { from, to, width, series: series.join(",") };
    const json = await this.get("/series", parameters, signal);
    return { version: json.version, series: json.series.map(decodeSeries) };
  }

  // Events of some tracks that are open at a moment, the outermost first.
  private async at(time: number, tracks: string[], signal?: AbortSignal): Promise<EventRef[]> {
    const known = tracks.filter((track) => this.tracks.has(track));
    if (known.length === 0) return [];
    const request = { from: time, to: time + 1, width: 1, tracks: known, maxEvents: 1000 };
    const tile = await this.tile(request, signal);
    return tile.tracks.flatMap(({ id, rows, names }) =>
      rows.flatMap((row) =>
        row.isExact ? Array.from(row.start, (_, i) => eventAt(id, row, i, names)) : [],
      ),
    );
  }

  async begins({ track, row, from, to }: RowRange, signal?: AbortSignal): Promise<EventRef[]> {
    const parameters = { from, to, starts_from: from, tracks: track, limit: MOST_LISTED };
    const json = await this.get("/events", parameters, signal);
    return json.events.filter((event) => event.row === row).map((event) => refOf(event));
  }

  private row(event: string, signal?: AbortSignal): Promise<JsonDetail> {
    return this.get("/events/{}", {}, signal, event);
  }

  // Ids change when a window is sealed: then the one that is at the same place now. Null: none is.
  private async renewed(
    track: string,
    start: number,
    signal?: AbortSignal,
  ): Promise<EventRef | null> {
    const found = await this.at(start, [track], signal);
    return found.find((one) => one.start === start && one.event !== null) ?? null;
  }

  private async rowOf(
    event: string,
    track: string,
    start: number,
    signal?: AbortSignal,
  ): Promise<JsonDetail> {
    const { found } = this;
    this.found = null;
    try {
      const row = found?.event === event ? found.row : await this.row(event, signal);
      if (partOf(row, track)?.start === start) return row;
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== GONE) throw error;
    }
    const now = await this.renewed(track, start, signal);
    if (now?.event) return this.row(now.event, signal);
    throw new Error("This event is not on the timeline any more.");
  }

  async find(
    event: string,
    track: string | null,
    start: number | null,
    signal?: AbortSignal,
  ): Promise<EventRef> {
    const row =
      track === null || start === null
        ? await this.row(event, signal)
        : await this.rowOf(event, track, start, signal);
    const found = partOf(row, track);
    if (found?.event) this.found = { event: found.event, row };
    if (found) return found;
    throw new Error("This event is not on the timeline.");
  }

  async detail(event: EventRef, signal?: AbortSignal): Promise<EventDetail> {
    if (event.event === null) return { values: {}, partner: null, scopes: [], markers: [] };
    const row = await this.rowOf(event.event, event.track, event.start, signal);
    const detail = detailOf(row, event.track);
    // What has no stack of its own was called from where its operator was.
    const operator = detail.frames?.length === 0 ? operatorOf(row) : null;
    if (operator === null) return detail;
    const { site = null, frames = [] } = detailOf(await this.row(operator, signal), "");
    return { ...detail, site, frames };
  }

  async sums(from: number, to: number, signal?: AbortSignal): Promise<TrackSum[]> {
    const parameters = { from, to, names: 5 };
    const json = await this.get("/selection", parameters, signal);
    return json.tracks.map(({ id, count, reaching, busy_ns, has_all_names, names }) => ({
      id,
      count,
      reaching,
      busyNs: busy_ns,
      hasAllNames: has_all_names,
      names: names.map(({ label, name, count, reaching, busy_ns: busyNs }) => ({
        label,
        name: name ?? label,
        count,
        reaching,
        busyNs,
      })),
    }));
  }

  async search(
    text: string,
    after: number | null,
    direction: Direction,
    signal?: AbortSignal,
  ): Promise<SearchResult> {
    const parameters = { q: text, after, direction };
    const json = await this.get("/search", parameters, signal);
    const { found } = json;
    if (!found) return { matches: json.matches, found: null };
    const ref = refOf(found);
    // The tile has the kernel's class as well.
    const here = await this.at(ref.start, [ref.track], signal);
    return {
      matches: json.matches,
      found: here.find(({ event }) => event === ref.event) ?? ref,
    };
  }
}
