// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { itemAt, layOut, mostScroll, placeOf, visibleItems } from "./layout";
import { describeTracks, KERNELS, SCOPES } from "./test_data";
import { groupTracks } from "./tracks";
import type { TrackInfo } from "./types";

const FILLS: TrackInfo = { ...KERNELS, id: "fills:0:1:7", kind: "fills", rows: 1 };
const LAUNCHES: TrackInfo = { ...SCOPES, id: "kernel_calls:9", kind: "kernel_calls" };
const WARPS: TrackInfo = {
  id: "warps:1:0:0",
  kind: "warps",
  rows: 1,
  events: 1,
  launch: 1,
  block: 0,
  group: 0,
};
const groups = groupTracks(
  describeTracks([LAUNCHES, FILLS, SCOPES, WARPS, KERNELS], {
    series: [
      { id: "s1", kind: "device_metric", device: 0, index: 0, metric: "energy_mj" },
      { id: "s2", kind: "device_metric", device: 0, index: 0, metric: "power_mw" },
      { id: "s3", kind: "counter", index: 0, metric: "loss" },
    ],
  }),
);
const start = { toggled: new Set<string>(), pinned: [], isCompact: false };

it("opens warps where there is nothing else, by the names of their kernel", () => {
  const launches = [{ launch: 1, kernel: "attention", groups: ["load", "compute"] }];
  const other = { ...WARPS, id: "warps:1:0:1", group: 1 };
  const unnamed = { ...WARPS, id: "warps:2:0:2", launch: 2, group: 2 };
  const shown = groupTracks(describeTracks([WARPS, other, unnamed], { launches }));
  expect(shown.map(({ title, note, startsClosed }) => [title, note, startsClosed])).toEqual([
    ["attention", "launch 1", false],
    ["Warps", "launch 2", true],
  ]);
  expect(shown.flatMap(({ leaves }) => leaves.map(({ label }) => label))).toEqual([
    "load",
    "compute",
    "group 2",
  ]);
});

it("has a group for each GPU's hardware counters, apart from its readings", () => {
  const series = [
    { id: "r", kind: "device_metric", device: 0, index: 0, metric: "power_mw" },
    { id: "a", kind: "pm_sample", device: 0, index: 0, metric: "dram__bytes.sum" },
    { id: "b", kind: "pm_sample", device: 1, index: 0, metric: "dram__bytes.sum" },
  ] as const;
  const titles = (devices: { device: number; name: string }[], shown: number = series.length) =>
    groupTracks(describeTracks([], { series: series.slice(0, shown), devices })).map(
      ({ title, startsClosed, leaves }) => [
        title,
        startsClosed,
        leaves.map(({ id, label }) => `${id} ${label}`),
      ],
    );
  const gpu = (device: number) => ({ device, name: "H200" });
  expect(titles([gpu(0), gpu(1)])).toEqual([
    ["Health · GPU 0", false, ["r power, average"]],
    ["Hardware counters · GPU 0", false, ["a dram__bytes.sum"]],
    ["Hardware counters · GPU 1", false, ["b dram__bytes.sum"]],
  ]);
  expect(titles([gpu(0)], 2)[1]?.[0]).toBe("Hardware counters");
  // Of GPUs that the log says nothing else of, too.
  expect(titles([])[2]?.[0]).toBe("Hardware counters · GPU 1");
});

it("calls threads by the names that the program gave them", () => {
  const named = { ...SCOPES, thread_name: "loader" };
  const [process] = groupTracks(describeTracks([named]));
  expect(process?.leaves[0]?.section).toBe(`loader (${SCOPES.thread})`);
});

it("has a track for modules and one for operators of a framework, below the scopes", () => {
  const markers = (id: string, domain?: string): TrackInfo => ({
    ...SCOPES,
    id,
    kind: "markers",
    ...(domain === undefined ? {} : { domain }),
  });
  const [process] = groupTracks(
    describeTracks([
      markers("markers:9:0"),
      markers("markers:9:5", "torch.op"),
      markers("markers:9:7", "loader"),
      markers("markers:9:4", "torch.module"),
      SCOPES,
    ]),
  );
  expect(process?.leaves.map(({ label }) => label)).toEqual([
    "scopes",
    "modules",
    "operators",
    "markers",
    "loader",
  ]);
});

describe("tracks", () => {
  it("are in groups: GPUs, the process, warps, readings", () => {
    expect(
      groups.map(({ title, startsClosed, leaves }) => [
        title,
        startsClosed,
        leaves.map(({ id }) => id),
      ]),
    ).toEqual([
      ["GPU 0 · H200", false, ["kernels:0:1:7", "fills:0:1:7"]],
      ["train", false, ["scopes:9", "kernel_calls:9"]],
      ["Warps", true, ["warps:1:0:0"]],
      ["Health", false, ["s2"]],
      ["More readings", true, ["s1"]],
      ["Counters", false, ["s3"]],
    ]);
  });
});

describe("layout", () => {
  it("gives overlapping slices rows of their own, and lets nothing overlap", () => {
    const layout = layOut(groups, start);
    let end = 0;
    for (const { y, height } of layout.scrolled) {
      expect(y).toBeGreaterThanOrEqual(end);
      end = y + height;
    }
    const kernels = layout.scrolled.find(({ id }) => id === KERNELS.id)!;
    expect(kernels.rows).toBe(2);
    expect(kernels.height).toBe(2 * kernels.rowHeight);
    expect(layout.height).toBeGreaterThanOrEqual(end);
  });
  it("closes groups, squeezes tracks, and opens what starts closed", () => {
    const toggled = new Set(["gpu:0", "scopes:9", "warps:1"]);
    const ids = layOut(groups, { ...start, toggled }).scrolled.map(({ id }) => id);
    expect(ids).not.toContain(KERNELS.id);
    expect(ids).toContain(WARPS.id);
    const before = layOut(groups, start).scrolled.find(({ id }) => id === KERNELS.id)!;
    const after = layOut(groups, { ...start, toggled: new Set([KERNELS.id]) }).scrolled.find(
      ({ id }) => id === KERNELS.id,
    )!;
    expect(after.height).toBeLessThan(before.height);
    expect(after.rowHeight * after.rows).toBeLessThanOrEqual(after.height);
  });
  it("keeps pinned tracks in place and takes them out of the rest", () => {
    const layout = layOut(groups, { ...start, pinned: ["scopes:9", "gone"] });
    expect(layout.pinned.map(({ id }) => id)).toEqual(["scopes:9"]);
    expect(layout.scrolled.some(({ id }) => id === "scopes:9")).toBe(false);
    expect(placeOf(layout, "scopes:9", 500)?.y).toBe(layout.pinned[0]!.y);
    expect(itemAt(layout, layout.pinned[0]!.y + 1, 500)?.item.id).toBe("scopes:9");
  });
  it("names each stream and thread once, where its first track is", () => {
    const named = (pinned: string[]) =>
      layOut(groups, { ...start, pinned })
        .scrolled.filter(({ isFirst, leaf }) => isFirst && leaf?.track)
        .map(({ id }) => id);
    expect(named([])).toEqual([KERNELS.id, SCOPES.id]);
    expect(named([SCOPES.id])).toEqual([KERNELS.id, LAUNCHES.id]);
  });
  it("finds what is in view and under a point", () => {
    const layout = layOut(groups, start);
    const kernels = layout.scrolled.find(({ id }) => id === KERNELS.id)!;
    expect(visibleItems(layout.scrolled, kernels.y, kernels.y + 1).map(({ id }) => id)).toEqual([
      KERNELS.id,
    ]);
    expect(itemAt(layout, kernels.y + 3 - 10, 10)?.item.id).toBe(KERNELS.id);
    expect(itemAt(layout, layout.height + 100, 0)).toBeNull();
    expect(mostScroll(layout, layout.height - 40)).toBe(40);
    expect(mostScroll(layout, layout.height + 40)).toBe(0);
  });
});
