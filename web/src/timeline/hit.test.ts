// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { hitRow, hitTest, isStep, neighbour } from "./hit";
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
