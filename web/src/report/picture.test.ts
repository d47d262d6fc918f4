// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { MemorySource } from "../timeline/memory_source";
import { insideDuring, type Picture, readPicture } from "./picture";

const PICTURE: Picture = {
  start: 0,
  end: 1000,
  texts: [["gemm", "void gemm<float>()", "matrix product"], ["step"], ["full", "", "wait"]],
  tracks: [
    {
      group: "GPU 0: NVIDIA H200",
      name: "stream 7",
      kind: "kernels",
      rows: [{ s: [100, 200], d: [150, 400], t: [0, 0], c: [1, 9], b: [150, 40] }],
    },
    {
      group: "GPU 0: NVIDIA H200, inside gemm",
      name: "SM 3, block 0, producer",
      kind: "warps",
      inside: "gemm",
      rows: [{ s: [110, 20], d: [10, 30], t: [2, 2] }],
    },
    {
      group: "GPU 0: NVIDIA H200, inside gemm",
      name: "SM 3, block 0, consumer",
      kind: "warps",
      inside: "gemm",
      rows: [{ s: [120], d: [90], t: [2] }],
    },
    {
      group: "train (pid 4)",
      name: "thread 4",
      kind: "scopes",
      rows: [{ s: [0], d: [900], t: [1] }],
    },
  ],
};

describe("picture", () => {
  it("is groups of tracks as the page says", () => {
    const { data } = readPicture(PICTURE, "train");
    const groups = data.description.groups!;
    expect(groups.map(({ title }) => title)).toEqual([
      "GPU 0: NVIDIA H200",
      "GPU 0: NVIDIA H200, inside gemm",
      "train (pid 4)",
    ]);
    expect(groups.map(({ startsClosed }) => startsClosed)).toEqual([false, true, false]);
    expect(groups[1]!.leaves.map(({ section, label }) => [section, label])).toEqual([
      ["SM 3, block 0", "producer"],
      ["SM 3, block 0", "consumer"],
    ]);
    expect(groups[2]!.leaves[0]).toMatchObject({ section: "thread 4", label: "scopes", rows: 1 });
    expect(data.description.span).toEqual([0, 1000]);
  });
  it("has the tracks of the dashboard, in its order", () => {
    const rows = [{ s: [0], d: [900], t: [1] }];
    const thread = (name: string, kind: "scopes" | "markers" | "waits", domain?: string) => {
      const of = domain === undefined ? {} : { domain };
      return { group: "train (pid 4)", name, kind, rows, ...of };
    };
    const tracks = [
      thread("thread 4", "markers"),
      thread("thread 4", "waits"),
      thread("thread 4", "markers", "torch.op"),
      thread("thread 4", "markers", "torch.module"),
      thread("thread 9", "scopes"),
    ];
    const { data } = readPicture({ ...PICTURE, tracks }, "train");
    const leaves = data.description.groups![0]!.leaves;
    expect(leaves.map(({ section, label }) => [section, label])).toEqual([
      ["thread 9", "scopes"],
      ["thread 4", "modules"],
      ["thread 4", "operators"],
      ["thread 4", "markers"],
      ["thread 4", "waits"],
    ]);
  });
  it("gives back what each block is", async () => {
    const { data } = readPicture(PICTURE, "train");
    const source = new MemorySource(data);
    const { found, matches } = await source.search("gemm", 200, "forward");
    expect(matches).toBe(2);
    expect(found).toMatchObject({
      track: "kernels:0",
      start: 300,
      end: 700,
      label: "gemm",
      name: "void gemm<float>()",
      kernelClass: "matrix product",
      merged: { count: 9, busyNs: 40 },
    });
    expect((await source.search("step", null, "forward")).found).toMatchObject({
      end: 900,
      kernelClass: undefined,
    });
  });
  it("opens what is inside of kernels where there is nothing else", () => {
    const tracks = PICTURE.tracks.filter(({ inside }) => inside !== undefined);
    const { data } = readPicture({ ...PICTURE, tracks }, "train");
    expect(data.description.groups!.map(({ startsClosed }) => startsClosed)).toEqual([false]);
  });
  it("knows when warps recorded something", () => {
    const { inside } = readPicture(PICTURE, "train");
    expect(inside).toHaveLength(1);
    expect([inside[0]!.from, inside[0]!.to]).toEqual([110, 210]);
    expect(insideDuring(inside, 100, 250, "gemm")).toHaveLength(1);
    expect(insideDuring(inside, 100, 250, "other")).toHaveLength(0);
    expect(insideDuring(inside, 210, 900)).toHaveLength(0);
    expect(insideDuring(inside, 0, 110)).toHaveLength(0);
    expect(insideDuring(inside, 0, 111)).toHaveLength(1);
  });
});
