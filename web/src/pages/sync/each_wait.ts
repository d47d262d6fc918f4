// SPDX-License-Identifier: Apache-2.0
// Waits one by one, and whether they come again in each step.
import type { EventEntry } from "../../api/types";
import { count, percent, plural, sentence } from "../../base/format";

export interface EachWait extends Pick<EventEntry, "event" | "start_ns" | "duration_ns"> {
  call: string;
  // Counted from 1; null: outside of all steps.
  step: number | null;
}

interface Span {
  start_ns: number;
  end_ns: number;
}

// Steps in the order of time; a wait belongs to the one in which it begins.
export function eachWait(events: EventEntry[], steps: Span[]): EachWait[] {
  let next = 0;
  const byTime = [...events].sort((a, b) => a.start_ns - b.start_ns);
  return byTime.map(({ event, start_ns, duration_ns, label }) => {
    while (next < steps.length && steps[next]!.end_ns <= start_ns) ++next;
    const isInside = next < steps.length && steps[next]!.start_ns <= start_ns;
    return { event, start_ns, duration_ns, call: label, step: isInside ? next + 1 : null };
  });
}

export interface LoopVerdict {
  // Waits that come again in one step after another.
  number: number;
  text: string;
}

function placeOf(waits: EachWait[], steps: Span[]): string {
  if (waits.every(({ start_ns }) => start_ns >= steps.at(-1)!.end_ns)) return "after the last step";
  if (waits.every(({ start_ns }) => start_ns < steps[0]!.start_ns)) return "before the first step";
  return "outside of the steps";
}

// Null: without steps, nothing tells.
export function loopVerdict(
  waits: EachWait[],
  steps: Span[],
  blockedOfRun: number | null,
): LoopVerdict | null {
  if (steps.length === 0 || waits.length === 0) return null;
  const inside = waits.filter(({ step }) => step !== null);
  const stepsThatWait = new Set(inside.map(({ step }) => step)).size;
  if (stepsThatWait < 2) {
    const where =
      inside.length === waits.length
        ? "in one step alone"
        : placeOf(
            waits.filter(({ step }) => step === null),
            steps,
          );
    const all = waits.length === 1 ? "the only wait comes" : `${plural(waits.length, "wait")}, `;
    const rest = inside.length > 0 && inside.length < waits.length ? " and in one step" : "";
    return { number: 0, text: sentence(`${all}${waits.length === 1 ? " " : ""}${where}${rest}`) };
  }
  const perStep = inside.length / stepsThatWait;
  const each =
    stepsThatWait === steps.length
      ? Number.isInteger(perStep)
        ? `${count(perStep)} in each step`
        : "some in each step"
      : `in ${count(stepsThatWait)} of ${plural(steps.length, "step")}`;
  const cost = blockedOfRun === null ? "" : `, ${percent(blockedOfRun)} of the run`;
  return { number: inside.length, text: sentence(`${each}${cost}`) };
}
