// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { EventEntry } from "../../api/types";
import { cycleOf, placeIn, rangeOf, timelineOf } from "./cycle";

function event(id: string, track: string, start: number, length: number): EventEntry {
  return { event: id, track, row: 0, start_ns: start, duration_ns: length, label: "k" };
}
const WAIT = {
  start_ns: 300,
  duration_ns: 100,
  before: { start_ns: 100, duration_ns: 50 },
};
const ids = (events: EventEntry[]) => events.map(({ event }) => event);

describe("what lies between two waits", () => {
  it("is of the thread that waits, but for the GPU, which works for all", () => {
    const cycle = cycleOf(WAIT, [
      event("before", "waits:1", 100, 50),
      event("b", "kernel_calls:1", 200, 5),
      event("other", "kernel_calls:2", 210, 5),
      event("b", "kernels:0:1:7", 310, 30),
      event("other", "kernels:0:1:8", 320, 30),
      event("other wait", "waits:2", 180, 5),
      event("wait", "waits:1", 300, 100),
    ]);
    expect(cycle.range).toEqual([100, 400]);
    expect(cycle.wait?.event).toBe("wait");
    expect(ids(cycle.waits)).toEqual(["before", "wait"]);
    expect(ids(cycle.launches)).toEqual(["b"]);
    expect(ids(cycle.kernels)).toEqual(["b", "other"]);
  });
  it("is shown on the timeline with the wait selected", () => {
    expect(timelineOf(WAIT)).toBe("timeline?from=100&to=400&sel=300,400&span=300,400");
  });
  it("has some time before the first wait of a thread, and none before the session", () => {
    expect(rangeOf({ start_ns: 9e6, duration_ns: 2e6, before: null })).toEqual([1e6, 11e6]);
    expect(rangeOf({ start_ns: 9e6, duration_ns: 10, before: null })).toEqual([8e6, 9_000_010]);
    expect(rangeOf({ start_ns: 300, duration_ns: 100, before: null })).toEqual([0, 400]);
  });
});

describe("a place on a strip", () => {
  it("is cut at its ends", () => {
    expect(placeIn([100, 200], { start_ns: 150, duration_ns: 25 })).toEqual({
      left: 50,
      width: 25,
    });
    expect(placeIn([100, 200], { start_ns: 50, duration_ns: 100 })).toEqual({ left: 0, width: 50 });
    expect(placeIn([100, 200], { start_ns: 201, duration_ns: 100 })).toBeNull();
    expect(placeIn([100, 200], { start_ns: 10, duration_ns: 20 })).toBeNull();
  });
});
