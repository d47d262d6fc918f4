// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { factsOfEvent, factsOfRange } from "./chosen";
import { readPicture } from "./picture";

const EVENT = {
  track: "kernels:0",
  row: 0,
  event: "kernels:0/0/0",
  start: 1_000_000,
  end: 3_000_000,
  label: "gemm",
  name: "void gemm<float>()",
  kernelClass: "matrix product",
};

it("tells what an event is", () => {
  expect(factsOfEvent(EVENT)).toMatchObject({
    title: "gemm",
    note: "matrix product",
    whole: "void gemm<float>()",
    rows: [
      ["duration", "2 ms"],
      ["start", "1.000 000 ms"],
    ],
  });
  const scope = { ...EVENT, track: "scopes:1", name: "gemm", kernelClass: undefined };
  expect(factsOfEvent(scope)).toMatchObject({ note: "scope", whole: "" });
});

it("does not pass several events off as one", () => {
  const { title, rows } = factsOfEvent({ ...EVENT, merged: { count: 1200, busyNs: 500_000 } });
  expect(title).toBe("1,200 events");
  expect(rows).toContainEqual(["busy", "500 µs, 25.0%"]);
  expect(rows).toContainEqual(["most time", "gemm"]);
});

it("adds up a stretch of time, track by track", () => {
  const rows = [{ s: [0], d: [10], t: [0] }];
  const tracks = Array.from({ length: 30 }, (_, i) => {
    return { group: "GPU 0", name: `stream ${i}`, kind: "kernels" as const, rows };
  });
  const picture = { start: 0, end: 10, texts: [["gemm"]] as [string][], tracks };
  const { description } = readPicture(picture, "train").data;
  const sums = description.tracks.map(({ id }, i) => ({
    id,
    count: i === 0 ? 0 : 2,
    reaching: 0,
    busyNs: i === 0 ? 0 : 500,
    hasAllNames: true,
    names: [{ label: "gemm", name: "gemm", count: 2, reaching: 0, busyNs: 500 }],
  }));
  const { title, table } = factsOfRange([0, 2000], sums, description);
  expect(title).toBe("2 µs selected");
  expect(table[1]).toEqual(["GPU 0 · stream 1 · kernels", "2", "500 ns", "gemm, 500 ns"]);
  expect(table.at(-1)![0]).toBe("and 5 more tracks");
});
