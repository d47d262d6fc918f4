// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { MemorySource } from "./memory_source";
import { describeTracks, KERNELS, NAMES, SCOPES, smallSource } from "./test_data";

describe("memory source", () => {
  it("lists what reaches into a range", async () => {
    const request = { from: 199, to: 301, width: 10, tracks: [KERNELS.id], maxEvents: 10 };
    const { tracks } = await smallSource().tile(request);
    const starts = tracks[0]!.rows.map((row) => (row.isExact ? [...row.start] : null));
    expect(starts).toEqual([[100, 300], [150]]);
  });
  it("merges rows with too many events, and loses none of them", async () => {
    const start = Array.from({ length: 5000 }, (_, i) => i * 20);
    const source = new MemorySource({
      description: describeTracks([KERNELS]),
      tracks: [
        {
          id: KERNELS.id,
          names: [{ label: "a", name: "a", kernelClass: "copy" }],
          rows: [{ row: 0, start, duration: start.map(() => 7), name: start.map(() => 0) }],
        },
      ],
      series: [],
    });
    const request = { from: 0, to: 100_000, width: 100, tracks: [KERNELS.id], maxEvents: 2000 };
    const row = (await source.tile(request)).tracks[0]!.rows[0]!;
    if (row.isExact) throw new Error("not merged");
    expect(row.stepNs).toBe(512);
    expect(row.count.reduce((a, b) => a + b)).toBe(5000);
    expect(row.busy.reduce((a, b) => a + b)).toBe(35_000);
  });
  it("passes on rows that come merged", async () => {
    const source = new MemorySource({
      description: describeTracks([SCOPES]),
      tracks: [
        {
          id: SCOPES.id,
          names: [{ label: "a", name: "a" }],
          rows: [
            {
              row: 0,
              stepNs: 64,
              at: [0, 64, 256],
              count: [1, 2, 3],
              busy: [9, 64, 1],
              name: [0, 0, 0],
            },
          ],
        },
      ],
      series: [],
    });
    const request = { from: 60, to: 200, width: 10, tracks: [SCOPES.id], maxEvents: 10 };
    const row = (await source.tile(request)).tracks[0]!.rows[0]!;
    expect(row.isExact ? null : [...row.at]).toEqual([0, 64]);
    expect((await source.sums(0, 200))[0]).toMatchObject({
      count: 3,
      busyNs: 73,
      hasAllNames: false,
    });
  });
  it("keeps what merged blocks stand for", async () => {
    const start = [0, 1000, 3000];
    const row = { row: 0, start, duration: [1000, 400, 10], name: [0, 1, 0] };
    const merged = { ...row, count: [50, 1, 3], busy: [250, 400, 6] };
    const source = new MemorySource({
      description: describeTracks([KERNELS]),
      tracks: [{ id: KERNELS.id, names: NAMES, rows: [merged] }],
      series: [],
    });
    const ask = { from: 900, to: 4000, width: 100, tracks: [KERNELS.id] };
    const exact = (await source.tile({ ...ask, maxEvents: 10 })).tracks[0]!.rows[0]!;
    expect(exact.isExact && [...exact.merged!.count, ...exact.merged!.busy]).toEqual([
      50, 1, 3, 250, 400, 6,
    ]);
    const steps = (await source.tile({ ...ask, from: 0, width: 4, maxEvents: 1 })).tracks[0]!;
    const [stepped] = steps.rows;
    if (!stepped || stepped.isExact) throw new Error("not merged");
    expect(stepped.count.reduce((a, b) => a + b)).toBe(54);
    expect(stepped.busy.reduce((a, b) => a + b)).toBeCloseTo(656);
    expect((await source.sums(500, 4000))[0]).toMatchObject({
      count: 4,
      busyNs: 125 + 400 + 6,
      hasAllNames: false,
    });
    const { found } = await source.search("gemm", null, "forward");
    expect(found!.merged).toEqual({ count: 50, busyNs: 250 });
    expect((await source.detail(found!)).values).toMatchObject({ count: 50, busy_ns: 250 });
  });
  it("adds up, finds and searches", async () => {
    const source = smallSource();
    const [sum] = await source.sums(150, 400);
    expect(sum).toMatchObject({ count: 2, reaching: 1, busyNs: 50 + 100 + 100 });
    expect(sum!.names[0]).toMatchObject({ label: "sum", count: 2, busyNs: 200 });
    const next = await source.search("GEMM", 101, "forward");
    expect([next.matches, next.found?.start]).toEqual([2, 600]);
    expect((await source.search("gemm", 600, "backward")).found?.start).toBe(100);
    expect((await source.search("nothing", null, "forward")).matches).toBe(0);
    const found = await source.find(next.found!.event!, null);
    expect((await source.detail(found)).values).toMatchObject({ start_ns: 600, duration_ns: 50 });
    await expect(source.find("no", null)).rejects.toThrow();
  });
  it("sums readings up by step", async () => {
    const request = { from: 0, to: 1024, width: 8, series: ["device_metric:0:0:1"] };
    const [picture] = (await smallSource().series(request)).series;
    expect([...picture!.at]).toEqual([0, 384]);
    expect([...picture!.min, ...picture!.max, ...picture!.last]).toEqual([5, 3, 7, 3, 7, 3]);
  });
});
