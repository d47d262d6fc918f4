// SPDX-License-Identifier: Apache-2.0
// What the server says of one event and of what was around it. Pure.
import type { EventDetail as JsonDetail, EventEntry } from "../api/types";
import type { EventDetail, EventRef } from "./types";

export function refOf(json: EventEntry, kernelClass?: string): EventRef {
  const { event, track, row, start_ns: start, duration_ns, label, name } = json;
  const end = start + duration_ns;
  return { track, row, event, start, end, label, name: name ?? label, kernelClass };
}

// Work and the call behind it share a row of the log: the one on `track`, null: whatever it is.
export function partOf(
  { around }: Pick<JsonDetail, "around">,
  track: string | null,
): EventRef | null {
  const { event, call } = around;
  if (call && track === call.track) return refOf(call);
  return event && (track === null || track === event.track) ? refOf(event, around.class) : null;
}

export function detailOf({ around, ...values }: JsonDetail, track: string): EventDetail {
  const { event, call, work, scopes, markers, site, frames } = around;
  const isCall = call !== null && call.track === track;
  const other = isCall ? event : call;
  return {
    values,
    partner: other ? refOf(other, isCall ? around.class : undefined) : null,
    work: work.map((one) => refOf(one)),
    scopes: scopes.map(({ label }) => label),
    markers: markers.map(({ label, domain }) => ({ label, domain: domain ?? "" })),
    site,
    frames,
  };
}

// The id of the innermost operator of a framework around an event.
export function operatorOf({ around }: Pick<JsonDetail, "around">): string | null {
  return around.markers.findLast(({ domain }) => domain === "torch.op")?.event ?? null;
}
