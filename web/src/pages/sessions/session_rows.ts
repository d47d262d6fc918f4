// SPDX-License-Identifier: Apache-2.0
// Sessions as the rows of a list: all ranks of a launch are one row that opens.
import type { Session } from "../../api/types";
import { type Place, place } from "../../base/place";

export interface SessionRow {
  kind: "session";
  session: Session;
  isInRun: boolean;
}

export interface RunRow {
  kind: "run";
  run: string;
  sessions: Session[];
  isOpen: boolean;
  summary: RunSummary;
}

export interface RunSummary {
  app: string;
  hosts: string[];
  engines: string[];
  // The earliest.
  startWallNs: string | null;
  // The longest.
  durationNs: number | null;
  isLowerBound: boolean;
  kernels: number | null;
  bytes: number;
  worldSize: number | null;
  ranks: number;
  state: Session["state"];
}

export type ListRow = SessionRow | RunRow;

// The state that a person has to know of first.
const WORST: Session["state"][] = [
  "live",
  "unreadable",
  "damaged",
  "losses",
  "unclosed",
  "not proven",
  "complete",
];

// How it was started; where nobody knows, the folder that it lies in tells the most. That of a server
// for others is a number, and tells nothing.
export function startOf({ command, path }: Session, of: Place = place): string {
  return command || (of === "folder" ? path : "");
}

function unique(values: string[]): string[] {
  return [...new Set(values.filter(Boolean))];
}

export function summarize(sessions: Session[]): RunSummary {
  const starts = sessions.map((s) => s.start_wall_ns).filter((s) => s !== null);
  const durations = sessions.map((s) => s.duration_ns).filter((d) => d !== null);
  const kernels = sessions.map((s) => s.kernels).filter((k) => k !== null);
  const ranks = new Set(sessions.map((s) => s.rank).filter((r) => r !== null));
  const states = new Set(sessions.map((s) => s.state));
  return {
    app: unique(sessions.map((s) => s.app)).join(", "),
    hosts: unique(sessions.map((s) => s.host)),
    engines: unique(sessions.map((s) => s.engine)),
    startWallNs: starts.reduce<string | null>(
      (least, s) => (least === null || BigInt(s) < BigInt(least) ? s : least),
      null,
    ),
    durationNs: durations.length === 0 ? null : Math.max(...durations),
    isLowerBound:
      durations.length < sessions.length || sessions.some((s) => s.duration_is_lower_bound),
    kernels: kernels.length < sessions.length ? null : kernels.reduce((sum, k) => sum + k, 0),
    bytes: sessions.reduce((sum, s) => sum + s.bytes, 0),
    worldSize: sessions.find((s) => s.world_size !== null)?.world_size ?? null,
    ranks: ranks.size,
    state: WORST.find((state) => states.has(state)) ?? "complete",
  };
}

// A run stands where the first of its sessions would.
export function rowsOf(sessions: Session[], open: ReadonlySet<string>): ListRow[] {
  const runs = new Map<string, Session[]>();
  for (const session of sessions) {
    const members = runs.get(session.run);
    if (members) members.push(session);
    else runs.set(session.run, [session]);
  }
  const rows: ListRow[] = [];
  for (const [run, members] of runs) {
    const [first] = members;
    if (members.length === 1 && first) {
      rows.push({ kind: "session", session: first, isInRun: false });
      continue;
    }
    const isOpen = open.has(run);
    rows.push({ kind: "run", run, sessions: members, isOpen, summary: summarize(members) });
    if (!isOpen) continue;
    const byRank = [...members].sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity));
    for (const session of byRank) rows.push({ kind: "session", session, isInRun: true });
  }
  return rows;
}

// "2 ranks", "2 of 8 ranks", "3 sessions of rank 1"
export function membersText({ ranks, worldSize }: RunSummary, sessions: number): string {
  if (ranks !== sessions) return `${sessions} sessions of one launch`;
  if (worldSize !== null && worldSize > ranks) return `${ranks} of ${worldSize} ranks`;
  return `${ranks} ranks`;
}

// What can be chosen in the filters, in order, with what is chosen now.
export function choices(values: string[], chosen: string | null): string[] {
  const all = unique(chosen === null ? values : [...values, chosen]);
  return all.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

// Text starts with A, numbers with the largest; a second click turns the order around.
export function nextSort(current: string, by: string): string {
  const first = by === "app" ? "app" : `-${by}`;
  const second = by === "app" ? "-app" : by;
  return current === first ? second : first;
}

// Ids of sessions by when they began; those that do not say when keep their place at the end.
export function oldestFirst(
  ids: string[],
  sessions: Pick<Session, "id" | "start_wall_ns">[],
): string[] {
  const starts = new Map(sessions.map(({ id, start_wall_ns }) => [id, start_wall_ns]));
  const startOf = (id: string) => {
    const start = starts.get(id);
    return start === null || start === undefined ? Infinity : Number(start);
  };
  // Two of them at infinity are no number apart.
  return [...ids].sort((a, b) => startOf(a) - startOf(b) || 0);
}
