// SPDX-License-Identifier: Apache-2.0
// What lies between one wait of the host and the next: the kernels that it launched, and when they ran.

export interface TimelineEvent {
  event: string;
  track: string;
  start_ns: number;
  duration_ns: number;
  label: string;
  name?: string;
}

export interface EventPage {
  span: [number, number];
  events: TimelineEvent[];
  next_from: number | null;
}

export interface LaunchedKernel {
  label: string;
  name: string;
  launches: number;
  // Of those that are in the answer; a kernel still waiting to run has none.
  gpu_ns: number | null;
}

export interface Cycle {
  wait: TimelineEvent;
  from_ns: number;
  to_ns: number;
  launches: TimelineEvent[];
  kernels: TimelineEvent[];
  launched: LaunchedKernel[];
}

export function waitBefore(waits: TimelineEvent[], wait: TimelineEvent): TimelineEvent | null {
  const before = waits.filter(
    ({ track, start_ns }) => track === wait.track && start_ns < wait.start_ns,
  );
  return before.at(-1) ?? null;
}

// A launch and its kernel are one row of the log, so they have the same id.
export function cycleOf(
  wait: TimelineEvent,
  before: TimelineEvent | null,
  events: TimelineEvent[],
): Cycle {
  const since = before === null ? -Infinity : before.start_ns + before.duration_ns;
  const end = wait.start_ns + wait.duration_ns;
  const launches = events.filter(
    ({ track, start_ns }) =>
      track.startsWith("kernel_calls:") && start_ns >= since && start_ns < wait.start_ns,
  );
  const kernels = events.filter(({ track }) => track.startsWith("kernels:"));
  const ranAs = new Map(kernels.map((kernel) => [kernel.event, kernel]));
  const byName = new Map<string, LaunchedKernel>();
  for (const { event, label, name = label } of launches) {
    const one = byName.get(name) ?? { label, name, launches: 0, gpu_ns: null };
    const ran = ranAs.get(event);
    one.launches += 1;
    if (ran) one.gpu_ns = (one.gpu_ns ?? 0) + ran.duration_ns;
    byName.set(name, one);
  }
  return {
    wait,
    from_ns: before?.start_ns ?? Math.min(launches[0]?.start_ns ?? wait.start_ns, wait.start_ns),
    to_ns: end,
    launches,
    kernels,
    launched: [...byName.values()].sort((a, b) => (b.gpu_ns ?? 0) - (a.gpu_ns ?? 0)),
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
