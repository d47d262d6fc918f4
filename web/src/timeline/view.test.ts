// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import {
  around,
  between,
  clampView,
  fit,
  pan,
  reveal,
  revealBoth,
  SHORTEST_NS,
  spanOf,
  timeOf,
  xOf,
  zoom,
} from "./view";

const whole = { from: 0, to: 1e9 };

describe("view", () => {
  it("keeps the moment under the pointer in place", () => {
    const view = { from: 2e8, to: 4e8 };
    const before = timeOf(view, 1000, 730);
    const closer = zoom(view, whole, 0.73, 0.1);
    expect(spanOf(closer)).toBeCloseTo(2e7);
    expect(xOf(closer, 1000, before)).toBeCloseTo(730, 6);
  });
  it("zooms no further than there is something to see", () => {
    const view = zoom({ from: 500, to: 600 }, whole, 0.5, 1e-6);
    expect(spanOf(view)).toBeCloseTo(SHORTEST_NS);
    expect((view.from + view.to) / 2).toBeCloseTo(550);
    expect(spanOf(zoom(whole, whole, 0.5, 1e6))).toBeCloseTo(1.5e9);
  });
  it("has half of a view inside the session at least", () => {
    const view = pan({ from: 0, to: 1e6 }, whole, -1e9);
    expect(view.from).toBeCloseTo(-5e5);
    const end = pan({ from: 0, to: 1e6 }, whole, 1e9);
    expect(end.from).toBeCloseTo(1e9 - 5e5);
    expect(clampView({ from: -1e12, to: 1e12 }, whole).to).toBeLessThanOrEqual(2e9);
  });
  it("tells nanoseconds apart hours into a session", () => {
    const view = { from: 36e12, to: 36e12 + 1000 };
    expect(xOf(view, 1000, 36e12 + 501) - xOf(view, 1000, 36e12 + 500)).toBeCloseTo(1, 3);
  });
  it("fits a session and an event", () => {
    expect(fit([100, 1100])).toEqual({ from: 80, to: 1120 });
    expect(fit([5, 5]).to).toBeGreaterThan(5);
    expect(fit(null).from).toBe(0);
    expect(around(1000, 2000, whole)).toEqual({ from: 500, to: 2500 });
  });
  it("moves only when an event is out of view", () => {
    const view = { from: 1000, to: 2000 };
    expect(reveal(view, whole, 1200, 1300)).toBe(view);
    const moved = reveal(view, whole, 5000, 5100);
    expect(spanOf(moved)).toBe(1000);
    expect((moved.from + moved.to) / 2).toBe(5050);
  });
  it("has two events in view, and zooms out only where it must", () => {
    const view = { from: 1000, to: 2000 };
    expect(revealBoth(view, whole, 1100, 1900)).toBe(view);
    const moved = revealBoth(view, whole, 500, 1200);
    expect(spanOf(moved)).toBe(1000);
    expect((moved.from + moved.to) / 2).toBe(850);
    const wide = revealBoth(view, whole, 1100, 9100);
    expect(wide).toEqual({ from: 100, to: 10_100 });
  });
  it("goes evenly from one view to another and arrives", () => {
    const to = { from: 100, to: 110 };
    const half = between({ from: 0, to: 1000 }, to, 0.5);
    expect(spanOf(half)).toBeCloseTo(100);
    expect(between({ from: 0, to: 1000 }, to, 1)).toBe(to);
  });
});
