// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { Asks } from "./asks";
import { Store } from "./state";
import { Stepper } from "./stepper";
import type { EventRef, RowRange, TimelineSource } from "./types";

const event = (start: number, row = 0): EventRef => ({
  track: "kernels:0:1:7",
  row,
  event: `device.1.${start}.${row}`,
  start,
  end: start + 5,
  label: "gemm",
  name: "gemm",
});
const EVENTS = [event(10), event(400, 1), event(900), event(905), event(907), event(100_000)];
const VIEW = { from: 99_990, to: 100_010 };
const WHOLE = { from: 0, to: 200_000 };
const MOST = 2;

// Lists no more than two, as the server has a limit.
const source = {
  detail: () => new Promise(() => undefined),
  begins: ({ row, from, to }: RowRange) =>
    Promise.resolve(
      EVENTS.filter((one) => one.row === row && one.start >= from && one.start < to).slice(0, MOST),
    ),
} as unknown as TimelineSource;

const turns = async () => {
  for (let i = 0; i < 100; ++i) await Promise.resolve();
};

async function from(
  start: EventRef,
  by: 1 | -1,
  meanwhile?: EventRef,
): Promise<number | undefined> {
  const store = new Store();
  const asks = new Asks(source, store);
  const stepper = new Stepper(
    store,
    asks,
    () => [],
    (one) => asks.select(one),
  );
  asks.select(start);
  stepper.stepFar(start, by, VIEW, WHOLE);
  if (meanwhile) asks.select(meanwhile);
  await turns();
  return store.state.selected?.start;
}

it("goes to the next event of the row, however far away it is", async () => {
  expect(await from(event(907), 1)).toBe(100_000);
  expect(await from(event(10), 1)).toBe(900);
});

it("goes to the nearest before, of more than a list has", async () => {
  expect(await from(event(100_000), -1)).toBe(907);
  expect(await from(event(900), -1)).toBe(10);
});

it("stays where there is none, and where something else was chosen", async () => {
  expect(await from(event(100_000), 1)).toBe(100_000);
  expect(await from(event(10), -1)).toBe(10);
  expect(await from(event(907), 1, event(400, 1))).toBe(400);
});
