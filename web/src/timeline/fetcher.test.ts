// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it, vi } from "vitest";
import { levelOf, stretchFor } from "./fetch_plan";
import { Fetcher, type Wanted } from "./fetcher";
import { smallSource } from "./test_data";
import { Pending, type Tile, type TileRequest, type TimelineSource } from "./types";

const whole = { from: 0, to: 1e9 };

describe("fetch plan", () => {
  it("asks for the same stretch while the view moves a little", () => {
    const one = stretchFor({ from: 5.0002e8, to: 5.0102e8 }, 1200, whole);
    const other = stretchFor({ from: 5.0007e8, to: 5.0107e8 }, 1200, whole);
    expect(other).toEqual(one);
    expect(one.to - one.from).toBeGreaterThanOrEqual(3e6);
  });
  it("has steps of a power of two, no longer than a pixel", () => {
    for (const span of [20, 1e4, 3.3e6, 1e9]) {
      const view = { from: 1e5, to: 1e5 + span };
      const { from, to, level, width } = stretchFor(view, 1600, whole);
      expect(2 ** level).toBeLessThanOrEqual(Math.max(1, span / 1600));
      expect((to - from) / width).toBe(2 ** level);
      expect(width).toBeLessThanOrEqual(16_384);
      expect(from).toBeLessThanOrEqual(view.from);
      expect(to).toBeGreaterThanOrEqual(Math.min(view.to, whole.to));
    }
    expect(levelOf({ from: 0, to: 1024 }, 1)).toBe(10);
  });
});

// A source whose answers come when the test says so.
function heldSource() {
  const asked: TileRequest[] = [];
  const answers: ((tile: Tile) => void)[] = [];
  const signals: AbortSignal[] = [];
  const source: TimelineSource = Object.assign(smallSource(), {
    tile: (request: TileRequest, signal?: AbortSignal) => {
      asked.push(request);
      if (signal) signals.push(signal);
      return new Promise<Tile>((resolve) => answers.push(resolve));
    },
  });
  return { source, asked, answers, signals };
}

function wanted(from: number, to: number, more: Partial<Wanted> = {}): Wanted {
  return {
    view: { from, to },
    whole,
    pixels: 1000,
    version: 1,
    tracks: ["a", "b"],
    series: [],
    ...more,
  };
}

const quiet = { onWake: () => {}, onAnswer: () => {}, onSeries: () => {}, onProblem: () => {} };

describe("fetcher", () => {
  it("asks once for all tracks, and not again for what is there", async () => {
    const { source, asked, answers } = heldSource();
    const fetcher = new Fetcher(source, quiet);
    fetcher.want(wanted(5e8, 5.01e8));
    fetcher.want(wanted(5.0005e8, 5.0105e8));
    expect(asked.length).toBe(1);
    expect(asked[0]!.tracks).toEqual(["a", "b"]);
    const rowsOf = (id: string) => ({ id, rows: [], names: new Map() });
    answers[0]!({ version: 1, tracks: [rowsOf("a"), rowsOf("b")] });
    await Promise.resolve();
    await Promise.resolve();
    fetcher.want(wanted(5.0005e8, 5.0105e8));
    expect(asked.length).toBe(1);
    fetcher.want(wanted(5e8, 5.01e8, { tracks: ["a", "c"] }));
    expect(asked[1]!.tracks).toEqual(["c"]);
  });
  it("says whether something is there, and whether everything is", async () => {
    const { source, answers } = heldSource();
    const fetcher = new Fetcher(source, quiet);
    expect(fetcher.want(wanted(5e8, 5.01e8))).toBe(false);
    expect(fetcher.lacks(wanted(5e8, 5.01e8))).toBe(true);
    const none = new Float64Array(0);
    const row = { row: 0, isExact: false as const, stepNs: 512, at: none, count: none, busy: none };
    const steps = { ...row, name: new Uint32Array(0), color: new Uint8Array(0) };
    const stepsOf = (id: string) => ({ id, rows: [steps], names: new Map() });
    answers[0]!({ version: 1, tracks: [stepsOf("a"), stepsOf("b")] });
    await Promise.resolve();
    await Promise.resolve();
    expect(fetcher.want(wanted(5e8, 5.01e8))).toBe(true);
    // Deeper in there is a coarse picture, for the time being.
    expect(fetcher.want(wanted(5e8, 5.001e8))).toBe(false);
    expect(fetcher.lacks(wanted(5e8, 5.001e8))).toBe(false);
    expect(fetcher.lacks(wanted(8e8, 8.01e8))).toBe(true);
  });
  it("waits as long as a busy server says", async () => {
    vi.useFakeTimers();
    let asked = 0;
    const source: TimelineSource = Object.assign(smallSource(), {
      tile: () => {
        ++asked;
        return Promise.reject(new Pending(null, 2000));
      },
    });
    const fetcher = new Fetcher(source, { ...quiet, onWake: () => fetcher.want(wanted(0, 1e6)) });
    fetcher.want(wanted(0, 1e6));
    await vi.advanceTimersByTimeAsync(1900);
    expect(asked).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(asked).toBe(2);
    fetcher.stop();
    vi.useRealTimers();
  });
  it("gives up what nobody looks at any more, and has one request at a time", () => {
    const { source, asked, signals } = heldSource();
    const fetcher = new Fetcher(source, quiet);
    fetcher.want(wanted(5e8, 5.01e8));
    fetcher.want(wanted(1e8, 1.01e8));
    expect(asked.length).toBe(2);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });
});
