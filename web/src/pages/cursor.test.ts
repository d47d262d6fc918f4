// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { keepCursor, keptCursor, momentOf, timelineAround } from "./cursor";

it("shows a moment on the timeline with what is around it", () => {
  expect(timelineAround(1000.4, 10.5)).toBe("timeline?from=989&to=1011&at=1000");
  expect(timelineAround(5, 100, 20)).toBe("timeline?from=0&to=25&at=5");
});

it("is kept for one session", () => {
  keepCursor("a", 0);
  expect([keptCursor("a"), keptCursor("b")]).toEqual([0, null]);
  keepCursor("a", null);
  expect(keptCursor("a")).toBe(null);
});

it("takes whole nanoseconds from an address, and nothing else", () => {
  expect(["0", "-12", "1e3", "1.5", "", "99999999999999999", null].map(momentOf)).toEqual([
    0,
    -12,
    null,
    null,
    null,
    null,
    null,
  ]);
});
