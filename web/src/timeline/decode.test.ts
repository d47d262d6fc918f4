// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { decodeSeries, decodeTile, lowerBound, reachOf, sumUp } from "./decode";
import { classInk, INK } from "./palette";

describe("decode", () => {
  it("adds differences up", () => {
    expect([...sumUp([45_676_408, 1_032_281, 264_926])]).toEqual([45676408, 46708689, 46973615]);
    expect([...sumUp([3, 1, 2], 16)]).toEqual([48, 64, 96]);
  });
  it("reads exact rows and steps with names, classes and ids", () => {
    const [kernels, scopes] = decodeTile({
      tracks: [
        {
          id: "kernels:0:1:7",
          rows: [
            {
              row: 2,
              is_exact: true,
              start_ns: [100, 50],
              duration_ns: [10, 20],
              name: [149, 150],
              event: ["device.1.4.0", null],
            },
          ],
        },
        {
          id: "scopes:9",
          rows: [
            {
              row: 0,
              is_exact: false,
              step_ns: 8,
              step: [2, 3],
              count: [1, 0],
              busy_ns: [4, 8],
              name: [1, 1],
            },
          ],
        },
      ],
      names: {
        kernels: {
          "149": { label: "gemm", name: "void gemm()", class: "matrix product" },
          "150": { label: "sum", class: "reduction" },
        },
        scopes: { "1": { label: "step" } },
      },
    });
    const row = kernels!.rows[0]!;
    if (!row.isExact) throw new Error("not exact");
    expect(row.row).toBe(2);
    expect([...row.start]).toEqual([100, 150]);
    expect([...row.end]).toEqual([110, 170]);
    expect([...row.color]).toEqual([classInk("matrix product"), classInk("reduction")]);
    expect(row.ids).toEqual(["device.1.4.0", null]);
    expect(kernels!.names.get(149)?.name).toBe("void gemm()");
    expect(kernels!.names.get(150)?.name).toBe("sum");
    const steps = scopes!.rows[0]!;
    if (steps.isExact) throw new Error("exact");
    expect([...steps.at]).toEqual([16, 40]);
    expect([...steps.busy]).toEqual([4, 8]);
    expect(steps.color[0]).toBe(INK.scope);
  });
  it("knows how far earlier events reach", () => {
    const rising = Float64Array.of(1, 2, 2, 5);
    expect(reachOf(rising)).toBe(rising);
    expect([...reachOf(Float64Array.of(1, 9, 3, 4, 10))]).toEqual([1, 9, 9, 9, 10]);
  });
  it("reads series", () => {
    const picture = decodeSeries({
      id: "a",
      step_ns: 4,
      step: [1, 2],
      min: [1, 2],
      max: [3, 4],
      last: [2, 2],
    });
    expect([...picture.at]).toEqual([4, 12]);
    expect([...picture.max]).toEqual([3, 4]);
  });
  it("searches as a binary search does", () => {
    const values = Float64Array.of(1, 3, 3, 7);
    expect([0, 1, 2, 3, 4, 8].map((wanted) => lowerBound(values, wanted))).toEqual([
      0, 0, 1, 1, 3, 4,
    ]);
  });
});
