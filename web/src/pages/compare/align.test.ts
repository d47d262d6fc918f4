// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { alignedSpan, isSameView, lengthOf, shifted } from "./align";

it("gives both as much time as the longer one takes", () => {
  const length = lengthOf([[100, 200], [1000, 1250], null]);
  expect(length).toBe(250);
  expect(alignedSpan([100, 200], length)).toEqual([100, 350]);
  expect(alignedSpan(null, length)).toBeNull();
});

it("moves a view from one session's time to the other's", () => {
  expect(shifted({ from: 100, to: 150 }, 900)).toEqual({ from: 1000, to: 1050 });
});

it("knows a view again that was rounded", () => {
  expect(isSameView({ from: 0, to: 1e6 }, { from: 20, to: 1e6 + 20 })).toBe(true);
  expect(isSameView({ from: 0, to: 1e6 }, { from: 0, to: 9e5 })).toBe(false);
});
