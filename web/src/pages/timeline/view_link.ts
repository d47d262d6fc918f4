// SPDX-License-Identifier: Apache-2.0
// The view in the address, so that a link shows a colleague the same thing.
import type { EventEntry } from "../../api/types";
import type { TimelineState, TrackKind } from "../../timeline";

export interface LinkedView {
  view: { from: number; to: number } | null;
  event: { id: string; track: string | null; start: number | null } | null;
  range: [number, number] | null;
  // Begin and end of an event: who knows when something was may not know its id.
  span: [number, number] | null;
  cursor: number | null;
  pinned: string[];
  toggled: string[];
  // From the top, in pixels.
  scroll: number;
  search: string;
  isFollowing: boolean;
}

type LinkName =
  | "from"
  | "to"
  | "event"
  | "sel"
  | "span"
  | "at"
  | "pinned"
  | "collapsed"
  | "top"
  | "find"
  | "follow";

type Shown =
  | "view"
  | "isFitted"
  | "selected"
  | "range"
  | "cursor"
  | "pinned"
  | "toggled"
  | "scroll"
  | "search"
  | "isFollowing";
export type ShownState = Pick<TimelineState, Shown>;

function whole(text: string | null | undefined): number | null {
  if (text === null || text === undefined || !/^-?\d{1,16}$/.test(text)) return null;
  return Number(text);
}

function list(text: string | null): string[] {
  return text === null || text === "" ? [] : text.split(",");
}

function pair(text: string | null): [number, number] | null {
  const [begin, end] = (text ?? "").split(",").map(whole);
  return typeof begin === "number" && typeof end === "number" && begin < end ? [begin, end] : null;
}

export function readLink(search: URLSearchParams): LinkedView {
  const from = whole(search.get("from"));
  const to = whole(search.get("to"));
  // "TRACK/EVENT", of a session that was live "TRACK/EVENT@START", because ids change when it grows;
  // other pages may link to an event alone.
  const event = /^(?:(?<track>[^/]*)\/)?(?<id>[^@]+)(?:@(?<start>.*))?$/.exec(
    search.get("event") ?? "",
  )?.groups;
  return {
    view: from !== null && to !== null && from < to ? { from, to } : null,
    event: event
      ? { id: event["id"]!, track: event["track"] ?? null, start: whole(event["start"]) }
      : null,
    range: pair(search.get("sel")),
    span: pair(search.get("span")),
    cursor: whole(search.get("at")),
    pinned: list(search.get("pinned")),
    toggled: list(search.get("collapsed")),
    scroll: Math.max(0, whole(search.get("top")) ?? 0),
    search: search.get("find") ?? "",
    isFollowing: search.get("follow") === "1",
  };
}

export function writeLink(state: ShownState, isLive: boolean): Record<LinkName, string | null> {
  const { view, isFitted, selected, range, cursor, pinned, toggled, scroll, search } = state;
  const joined = (ids: readonly string[]) => (ids.length === 0 ? null : ids.join(","));
  const start = isLive && selected ? `@${selected.start}` : "";
  return {
    from: isFitted ? null : String(Math.floor(view.from)),
    to: isFitted ? null : String(Math.ceil(view.to)),
    event: selected?.event ? `${selected.track}/${selected.event}${start}` : null,
    span: null,
    sel: range ? `${range[0]},${range[1]}` : null,
    at: cursor === null ? null : String(cursor),
    pinned: joined(pinned),
    collapsed: joined([...toggled]),
    top: scroll > 0 ? String(scroll) : null,
    find: search.text === "" ? null : search.text,
    follow: state.isFollowing ? "1" : null,
  };
}

// What people mean first where several things took exactly the same time.
const FIRST: readonly TrackKind[] = ["kernels", "copies", "fills", "graphs", "waits"];

// The event that took exactly this time; null: none did.
export function spanningEvent(
  events: EventEntry[],
  [begin, end]: [number, number],
): EventEntry | null {
  const rank = ({ track }: EventEntry) => {
    const at = FIRST.findIndex((kind) => track.startsWith(`${kind}:`));
    return at < 0 ? FIRST.length : at;
  };
  const found = events.filter((one) => one.start_ns === begin && begin + one.duration_ns === end);
  return found.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}
