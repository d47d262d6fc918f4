// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import {
  alignedSpans,
  alignedStep,
  isSameView,
  linkedView,
  shifted,
  type Span,
  stepNumber,
} from "./align";

it("gives both as much time as the longer one takes", () => {
  const spans: Span[] = [
    [100, 200],
    [1000, 1250],
  ];
  expect(alignedSpans(spans, [100, 1000])).toEqual([
    [100, 350],
    [1000, 1250],
  ]);
  // At a moment that comes sooner in one of them.
  expect(alignedSpans(spans, [190, 1020])).toEqual([
    [100, 420],
    [930, 1250],
  ]);
});

it("shows a step of both, as long as the longer one", () => {
  const steps = (...lengths: number[]) =>
    lengths.map((length, i) => ({ start_ns: i * 1000, end_ns: i * 1000 + length }));
  expect(alignedStep(2, steps(5, 100), steps(5, 300, 7))).toEqual({
    moments: [1000, 1000],
    view: { from: 970, to: 1330 },
  });
  expect(alignedStep(3, steps(5, 100), steps(5, 300, 7))).toBeNull();
});

it("moves a view from one session's time to the other's", () => {
  expect(shifted({ from: 100, to: 150 }, 900)).toEqual({ from: 1000, to: 1050 });
});

it("knows a view again that was rounded", () => {
  expect(isSameView({ from: 0, to: 1e6 }, { from: 20, to: 1e6 + 20 })).toBe(true);
  expect(isSameView({ from: 0, to: 1e6 }, { from: 0, to: 9e5 })).toBe(false);
});

it("takes from an address what makes sense", () => {
  expect(stepNumber("5", 5)).toBe(5);
  for (const wrong of [null, "", "0", "6", "1.5", "x"]) expect(stepNumber(wrong, 5)).toBeNull();
  expect(linkedView("-5", "9")).toEqual({ from: -5, to: 9 });
  for (const to of [null, "-5", "1e9"]) expect(linkedView("-5", to)).toBeNull();
});
