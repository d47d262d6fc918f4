// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { hitRow, hitTest, isStep, neighbour, sameEvent } from "./hit";
import { layOut } from "./layout";
import { inNextRow, firstEvent } from "./steps";
import { KERNELS, SCOPES, segmentsOf, smallSource } from "./test_data";
import { groupTracks } from "./tracks";

const source = smallSource();
const layout = layOut(groupTracks(await source.describe()), {
  toggled: new Set(),
  pinned: [],
  isCompact: false,
});
const kernels = await segmentsOf(source, KERNELS.id);
const scopes = await segmentsOf(source, SCOPES.id);
const of = (id: string) => (id === KERNELS.id ? kernels : scopes);
const item = layout.scrolled.find(({ id }) => id === KERNELS.id)!;

function labelAt(row: number, time: number, slack = 0): string | null {
  const found = hitRow(KERNELS.id, row, time, slack, kernels);
  return found && !isStep(found) ? `${found.label} ${found.start}` : null;
}

describe("hit testing", () => {
  it("finds the event of a row, and near ones only within reach", () => {
    expect(labelAt(0, 150)).toBe("gemm 100");
    expect(labelAt(1, 160)).toBe("sum 150");
    expect(labelAt(0, 250)).toBeNull();
    expect(labelAt(0, 295, 10)).toBe("sum 300");
    expect(labelAt(0, 205, 10)).toBe("gemm 100");
    expect(labelAt(1, 618, 3)).toBe("sum 620");
  });
  it("goes by height to the row of the track", () => {
    const at = (row: number) =>
      hitTest(layout, 5, item.y - 5 + (row + 0.5) * item.rowHeight, 170, 0, of);
    expect(at(0)).toMatchObject({ kind: "event", event: { row: 0, start: 100 } });
    expect(at(1)).toMatchObject({ kind: "event", event: { row: 1, start: 150 } });
    expect(hitTest(layout, 0, 3, 170, 0, of)).toMatchObject({
      kind: "item",
      item: { kind: "group" },
    });
  });
  it("says how much a step holds", async () => {
    const request = { from: 0, to: 1024, width: 4, tracks: [KERNELS.id], maxEvents: 1 };
    const data = (await source.tile(request)).tracks[0]!;
    const entry = {
      key: "",
      from: 0,
      to: 1024,
      level: 8,
      version: 1,
      isExact: false,
      bytes: 0,
      data,
    };
    const found = hitRow(KERNELS.id, 0, 400, 0, [{ entry, from: 0, to: 1024 }]);
    expect(found).toMatchObject({ from: 256, to: 512, count: 1, busyNs: 200, label: "sum" });
  });
  it("prefers a step near by in which something begins", () => {
    const steps = (count: number[]) => {
      const row = {
        row: 128,
        isExact: false as const,
        stepNs: 4,
        at: Float64Array.of(100, 104, 108, 112),
        count: Float64Array.from(count),
        busy: Float64Array.of(8, 8, 8, 8),
        name: Uint32Array.of(0, 0, 0, 0),
        color: Uint8Array.of(0, 0, 0, 0),
      };
      const data = { id: KERNELS.id, rows: [row], names: new Map() };
      const range = { from: 0, to: 1000 };
      const entry = { key: "", level: 2, version: 1, isExact: false, bytes: 0, data, ...range };
      return [{ entry, ...range }];
    };
    const beginOf = (count: number[], slack: number) =>
      hitRow(KERNELS.id, 128, 105, slack, steps(count)) as { from: number; count: number };
    expect(beginOf([1, 0, 0, 1], 20)).toMatchObject({ from: 100, count: 1 });
    expect(beginOf([0, 0, 1, 0], 20)).toMatchObject({ from: 108, count: 1 });
    expect(beginOf([0, 0, 1, 0], 1)).toMatchObject({ from: 104, count: 0 });
    expect(beginOf([1, 2, 1, 0], 20)).toMatchObject({ from: 104, count: 2 });
  });
  it("finds an event again under another id", async () => {
    const selected = { ...firstEvent([item], of)!, event: "device.9.1.1" };
    expect(sameEvent(selected, kernels)?.event).toBe(firstEvent([item], of)!.event);
    expect(sameEvent({ ...selected, end: 7 }, kernels)).toBeNull();
    // What was open when it was selected has ended.
    expect(sameEvent({ ...selected, event: null, end: 7 }, kernels)?.end).toBe(200);
    expect(sameEvent({ ...selected, label: "other" }, kernels)).toBeNull();
  });
  it("steps along a row, to other rows, and stops at the ends", () => {
    const first = firstEvent([item], of)!;
    expect(first.start).toBe(100);
    const second = neighbour(first, 1, kernels)!;
    expect(second.start).toBe(300);
    expect(neighbour(second, -1, kernels)).toEqual(first);
    expect(neighbour(first, -1, kernels)).toBeNull();
    const below = inNextRow(layout, first, 1, 1000, of)!;
    expect([below.track, below.row, below.start]).toEqual([KERNELS.id, 1, 150]);
    expect(inNextRow(layout, below, 1, 1000, of)?.track).toBe(SCOPES.id);
    expect(inNextRow(layout, first, -1, 1000, of)).toBeNull();
  });
});
