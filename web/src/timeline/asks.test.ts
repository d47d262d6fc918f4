// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { Asks } from "./asks";
import { Store } from "./state";
import type { EventRef, SearchResult, TimelineSource } from "./types";

const event = (start: number): EventRef => ({
  track: "kernels:0:1:7",
  row: 0,
  event: `device.1.${start}.0`,
  start,
  end: start + 5,
  label: "gemm",
  name: "gemm",
});
const EVENTS = [100, 300, 600].map(event);

// Three matches.
const source = {
  detail: () => new Promise(() => undefined),
  search: (_: string, after: number | null, direction: string): Promise<SearchResult> => {
    const ahead = EVENTS.filter(
      ({ start }) => after === null || (direction === "forward" ? start >= after : start < after),
    );
    const found = (direction === "forward" ? ahead[0] : ahead.at(-1)) ?? null;
    return Promise.resolve({ matches: EVENTS.length, found });
  },
} as unknown as TimelineSource;

const turns = async () => {
  for (let i = 0; i < 8; ++i) await Promise.resolve();
};

it("says which of the matches is selected", async () => {
  const store = new Store();
  const asks = new Asks(source, store);
  const go = async (after: number | null, direction: "forward" | "backward") => {
    asks.search("gemm", after, direction, (found) => asks.select(found));
    await turns();
    return [store.state.search.at, store.state.selected?.start];
  };
  expect(await go(null, "forward")).toEqual([1, 100]);
  expect(await go(101, "forward")).toEqual([2, 300]);
  expect(await go(301, "forward")).toEqual([3, 600]);
  // Around both ends.
  expect(await go(601, "forward")).toEqual([1, 100]);
  expect(await go(100, "backward")).toEqual([3, 600]);
  expect(await go(600, "backward")).toEqual([2, 300]);
  // From an event that was chosen by hand nobody knows.
  asks.select(event(400));
  expect(await go(401, "forward")).toEqual([null, 600]);
});

it("counts without selecting anything, as a link does", async () => {
  const store = new Store();
  const asks = new Asks(source, store);
  asks.select(event(400));
  asks.search("gemm", null, "forward", null);
  await turns();
  expect(store.state.search).toMatchObject({ text: "gemm", matches: 3, at: null });
  expect(store.state.selected?.start).toBe(400);
});
