// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { tickLabel, ticks, tickStep } from "./ruler";

describe("ruler", () => {
  it("has steps of 1, 2 and 5, and none below a nanosecond", () => {
    expect([0.001, 1, 1.5, 3, 7, 12, 999].map(tickStep)).toEqual([1, 1, 2, 5, 10, 20, 1000]);
  });
  it("writes every nanosecond that tells marks apart", () => {
    expect(tickLabel(50e6, 10e6, 230e6)).toBe("50 ms");
    expect(tickLabel(104_512_386, 1, 104_512_400)).toBe("104.512 386 ms");
    expect(tickLabel(104_512_300, 100, 104_512_400)).toBe("104.512 3 ms");
    expect(tickLabel(10_000_000_001, 1, 10_000_000_020)).toBe("10.000 000 001 s");
    expect(tickLabel(-1500, 500, 2000)).toBe("−1.5 µs");
    expect(tickLabel(420e9, 1e9, 500e9)).toBe("420 s");
  });
  it("is a clock where time is long", () => {
    expect(tickLabel(1_200e9, 1e9, 1300e9)).toBe("0:20:00");
    expect(tickLabel(0, 3600e9, 36e12)).toBe("0:00:00");
    expect(tickLabel(-3_723e9, 1e9, 36e12)).toBe("−1:02:03");
    expect(tickLabel(36e12 + 7, 1, 36e12 + 20)).toBe("10:00:00.000 000 007");
    expect(tickLabel(36e12 + 5e8, 5e8, 36e12 + 5e9)).toBe("10:00:00.5");
    expect([6e9, 11e9, 40e9, 61e9, 301e9, 3601e9, 4 * 3600e9, 25 * 3600e9].map(tickStep)).toEqual(
      [10, 15, 60, 120, 600, 7200, 6 * 3600, 48 * 3600].map((seconds) => seconds * 1e9),
    );
    const hours = ticks({ from: 0, to: 5 * 3600e9 }, 1200, 6.5).map(({ label }) => label);
    expect(hours.slice(0, 3)).toEqual(["0:00:00", "0:30:00", "1:00:00"]);
  });
  it("has labels that differ and do not touch, at any zoom", () => {
    for (const base of [0, 45_676_408, 5_867_845_282, 36e12 + 7]) {
      for (const span of [20, 333, 7e3, 1e6, 4.4e9, 2e12, 9e14]) {
        const marks = ticks({ from: base, to: base + span }, 1200, 6.5);
        const labels = marks.map(({ label }) => label);
        expect(new Set(labels).size).toBe(labels.length);
        expect(labels.length).toBeGreaterThan(2);
        for (const [i, { x, time }] of marks.entries()) {
          expect(Number.isInteger(time)).toBe(true);
          const next = marks[i + 1];
          if (next) expect(next.x - x).toBeGreaterThan(labels[i]!.length * 6.5);
        }
      }
    }
  });
  it("says what the mark is at", () => {
    const [first] = ticks({ from: 45_676_408, to: 45_676_508 }, 1200, 6.5);
    const digits = first!.label.replace(/[^\d]/g, "").padEnd(8, "0");
    expect(Number(digits)).toBe(first!.time);
  });
});
