// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { cycleOf, placeIn, type TimelineEvent, waitBefore } from "./cycle";

function event(
  id: string,
  track: string,
  start: number,
  length: number,
  label = "k",
): TimelineEvent {
  return { event: id, track, start_ns: start, duration_ns: length, label };
}
const WAITS = [
  event("w1", "waits:1", 100, 50),
  event("w2", "waits:2", 180, 5),
  event("w3", "waits:1", 300, 100),
];

describe("what lies between two waits", () => {
  it("begins at the wait before of the same thread", () => {
    expect(waitBefore(WAITS, WAITS[2]!)?.event).toBe("w1");
    expect(waitBefore(WAITS, WAITS[1]!)).toBeNull();
  });
  it("has the kernels that were launched since, and not those that only ran since", () => {
    const cycle = cycleOf(WAITS[2]!, WAITS[0]!, [
      event("a", "kernel_calls:1", 90, 5),
      event("a", "kernels:0:1:7", 160, 10),
      event("b", "kernel_calls:1", 200, 5, "gemm"),
      event("b", "kernels:0:1:7", 310, 30, "gemm"),
      event("c", "kernel_calls:1", 210, 5, "gemm"),
      event("d", "kernel_calls:1", 220, 5, "add"),
      event("e", "kernel_calls:1", 305, 5, "late"),
    ]);
    expect(cycle.launched).toEqual([
      { label: "gemm", name: "gemm", launches: 2, gpu_ns: 30 },
      { label: "add", name: "add", launches: 1, gpu_ns: null },
    ]);
    expect([cycle.from_ns, cycle.to_ns]).toEqual([100, 400]);
  });
  it("begins at the first launch where no wait came before", () => {
    const cycle = cycleOf(WAITS[1]!, null, [event("a", "kernel_calls:1", 90, 5)]);
    expect(cycle.from_ns).toBe(90);
    expect(cycleOf(WAITS[1]!, null, []).from_ns).toBe(180);
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
