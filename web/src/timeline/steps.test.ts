// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import type { Item } from "./layout";
import { densestStep, isExactAt } from "./steps";
import { KERNELS, segmentsOf, smallSource } from "./test_data";
import type { Segment } from "./tile_cache";
import type { StepRow, TileTrack } from "./types";

const exact = await segmentsOf(smallSource(), KERNELS.id);
const row: StepRow = {
  row: 0,
  isExact: false,
  stepNs: 100,
  at: Float64Array.from([0, 100, 200, 700]),
  count: Float64Array.from([3, 9, 12, 50]),
  busy: Float64Array.from([10, 20, 30, 40]),
  name: exact[0]!.entry.data.rows[0]!.name,
  color: exact[0]!.entry.data.rows[0]!.color,
};
const steps: Segment<TileTrack>[] = [
  {
    ...exact[0]!,
    entry: { ...exact[0]!.entry, data: { ...exact[0]!.entry.data, rows: [row] } },
  },
];
const items = [{ id: KERNELS.id }] as Item[];

it("finds the step in view in which most events begin", () => {
  expect(densestStep(items, { from: 0, to: 500 }, () => steps)).toMatchObject({
    from: 200,
    to: 300,
    count: 12,
  });
  expect(densestStep(items, { from: 0, to: 1000 }, () => steps)?.count).toBe(50);
  expect(densestStep(items, { from: 0, to: 1000 }, () => exact)).toBeNull();
});

it("knows whether an event is drawn by itself", () => {
  const event = {
    track: KERNELS.id,
    row: 0,
    event: "a",
    start: 300,
    end: 500,
    label: "",
    name: "",
  };
  expect(isExactAt(event, exact)).toBe(true);
  expect(isExactAt(event, steps)).toBe(false);
  expect(isExactAt({ ...event, start: 5000, end: 5001 }, exact)).toBe(false);
});
