// SPDX-License-Identifier: Apache-2.0
// What lies between one wait of a thread and the next: its launches, and the kernels that ran.
import type { EventEntry, LineWait } from "../../api/types";

export interface Cycle {
  range: [number, number];
  waits: EventEntry[];
  // The wait itself, of those.
  wait: EventEntry | undefined;
  launches: EventEntry[];
  kernels: EventEntry[];
}

// Where nothing was waited for before, some of what led to the wait.
const LEAST_NS = 1_000_000;

// From the wait before to the end of this one.
export function rangeOf({ start_ns, duration_ns, before }: LineWait): [number, number] {
  const from = before?.start_ns ?? Math.max(0, start_ns - Math.max(4 * duration_ns, LEAST_NS));
  return [from, start_ns + duration_ns];
}

// Where the timeline shows the wait, selected, with what led to it.
export function timelineOf(wait: LineWait): string {
  const [from, to] = rangeOf(wait);
  const own = `${wait.start_ns},${wait.start_ns + wait.duration_ns}`;
  return `timeline?from=${from}&to=${to}&sel=${own}&span=${own}`;
}

function threadOf({ track }: EventEntry): string {
  return track.slice(track.indexOf(":"));
}

// Kernels run for all threads; launches and waits are those of the thread that waits.
export function cycleOf(line: LineWait, events: EventEntry[]): Cycle {
  const of = (kind: string) => events.filter(({ track }) => track.startsWith(`${kind}:`));
  const wait = of("waits").find(
    ({ start_ns, duration_ns }) => start_ns === line.start_ns && duration_ns === line.duration_ns,
  );
  const isOfThread = (event: EventEntry) =>
    wait === undefined || threadOf(event) === threadOf(wait);
  return {
    range: rangeOf(line),
    wait,
    waits: of("waits").filter(isOfThread),
    launches: of("kernel_calls").filter(isOfThread),
    kernels: of("kernels"),
  };
}

// Left and width in percent of a stretch of time; null: outside of it.
export function placeIn(
  [from, to]: [number, number],
  { start_ns, duration_ns }: { start_ns: number; duration_ns: number },
): { left: number; width: number } | null {
  const start = Math.max(start_ns, from);
  const end = Math.min(start_ns + duration_ns, to);
  if (end < start || to <= from || start_ns > to || start_ns + duration_ns < from) return null;
  return { left: (100 * (start - from)) / (to - from), width: (100 * (end - start)) / (to - from) };
}
