// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { EventEntry } from "../../api/types";
import { eachWait, loopVerdict } from "./each_wait";

const STEPS = [
  { start_ns: 100, end_ns: 200 },
  { start_ns: 200, end_ns: 300 },
  { start_ns: 300, end_ns: 400 },
];

function wait(start_ns: number): EventEntry {
  return {
    event: `e${start_ns}`,
    track: "waits:1",
    row: 0,
    start_ns,
    duration_ns: 5,
    label: "sync",
  };
}

function verdict(...starts: number[]) {
  return loopVerdict(eachWait(starts.map(wait), STEPS), STEPS, 0.0004);
}

describe("waits of steps", () => {
  it("are in the step in which they begin", () => {
    const steps = eachWait([350, 50, 100, 199, 200, 400].map(wait), STEPS).map(({ step }) => step);
    expect(steps).toEqual([null, 1, 1, 2, 3, null]);
  });
  it("come again in each step", () => {
    expect(verdict(150, 250, 350)).toEqual({
      number: 3,
      text: "1 in each step, <0.1% of the run.",
    });
    expect(verdict(110, 150, 250, 350, 360)?.text).toMatch(/^Some in each step/);
    expect(verdict(110, 350)?.text).toMatch(/^In 2 of 3 steps/);
  });
  it("are no loop before, after, or in one of them", () => {
    expect(verdict(500)).toEqual({ number: 0, text: "The only wait comes after the last step." });
    expect(verdict(150)?.text).toBe("The only wait comes in one step alone.");
    expect(verdict(10, 20)?.text).toBe("2 waits, before the first step.");
    expect(verdict(10, 150, 500)?.text).toBe("3 waits, outside of the steps and in one step.");
  });
  it("are not judged without steps", () => {
    expect(loopVerdict(eachWait([wait(5)], []), [], null)).toBeNull();
  });
});
