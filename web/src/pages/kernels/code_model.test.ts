// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { CodeImage, KernelCode } from "../../api/types";
import {
  coldPtxPane,
  findRows,
  hottest,
  instructionPane,
  linkBack,
  nextHot,
  ptxPane,
  rowName,
  rowNamed,
  sourcePanes,
} from "./code_model";
import { legendOf, stackOf, stallOrder } from "./stalls";

const stalls = (barrier: number, wait: number) => ({
  barrier: { samples: barrier, not_issued: 0 },
  wait: { samples: wait, not_issued: 0 },
});
const instruction = (offset: number, ptx: number | null, barrier: number, wait: number) => ({
  offset,
  text: `OP${offset} R1`,
  places: [{ file: "/a/k.cu", line: 5 }],
  ptx_line: ptx,
  target: null,
  live_registers: 3,
  samples: barrier + wait,
  stalls: stalls(barrier, wait),
  counts: null,
});
const image: CodeImage = {
  module: "1",
  hash: "h",
  state: "disassembled",
  architecture: "sm_90",
  ambiguous: false,
  resources: {
    registers: 9,
    stack_bytes: 0,
    shared_bytes: 0,
    constant_bytes: 0,
    local_bytes: null,
  },
  samples: 60,
  samples_unlocated: 0,
  counts: null,
  counted_lines: [],
  lines: [
    {
      file: "/a/k.cu",
      line: 7,
      source: "b;",
      samples: 50,
      stalls: stalls(40, 10),
      instructions: [16, 32],
    },
    {
      file: "/a/k.cu",
      line: 5,
      source: "a;",
      samples: 10,
      stalls: stalls(0, 10),
      instructions: [0],
    },
    { file: "/a/h.cuh", line: 90, source: null, samples: 0, stalls: {}, instructions: [48] },
  ],
  instructions: [
    instruction(0, 3, 0, 10),
    instruction(16, 4, 30, 5),
    instruction(32, 4, 10, 5),
    instruction(48, null, 0, 0),
  ],
  ptx: ["x", "y", "ld", "bar", "z"],
};
const code = {
  images: [image],
  sources: [
    {
      path: "/a/k.cu",
      language: "cuda",
      first_line: 4,
      newer: true,
      lines: ["{", "a;", "", "b;", "}"],
    },
  ],
} as unknown as KernelCode;

describe("code", () => {
  const order = ["barrier", "wait"];
  it("puts text and heat together, hottest file first", () => {
    const panes = sourcePanes(code, image, order);
    expect(panes.map(({ title }) => title)).toEqual(["k.cu", "h.cuh"]);
    expect(panes[0]!.rows.map(({ at, samples }) => [at, samples])).toEqual([
      [4, 0],
      [5, 10],
      [6, 0],
      [7, 50],
      [8, 0],
    ]);
    expect(panes[0]!.most).toBe(50);
    expect(panes[0]!.isNewer).toBe(true);
    expect(panes[0]!.rows[3]!.stack).toEqual([
      { reason: "barrier", samples: 40 },
      { reason: "wait", samples: 10 },
    ]);
    expect(panes[1]!.rows[0]!.text).toBeNull();
  });
  it("is heated by what was counted, with lines that no sample fell on", () => {
    const of = (warps: number) => ({
      warps,
      threads: warps,
      threads_predicated_on: warps,
      sectors: 0,
      sectors_ideal: 0,
      shared_passes: 0,
      shared_passes_ideal: 0,
      local_sectors: 0,
    });
    const counted: CodeImage = {
      ...image,
      counted_lines: [
        { file: "/a/h.cuh", line: 90, counts: of(500) },
        { file: "/a/k.cu", line: 5, counts: of(30) },
        { file: "/a/h.cuh", line: 91, counts: of(7) },
        { file: null, line: null, counts: of(1) },
      ],
    };
    const panes = sourcePanes(code, counted, order, "executed");
    expect(panes.map(({ title, most }) => [title, most])).toEqual([
      ["h.cuh", 500],
      ["k.cu", 30],
    ]);
    expect(hottest(panes[0]!.rows).map((i) => panes[0]!.rows[i]!.at)).toEqual([90, 91]);
    expect(panes[1]!.rows[1]).toMatchObject({ at: 5, samples: 10, heat: 30 });
  });
  it("knows rows by what an address calls them", () => {
    const [left = null] = sourcePanes(code, image, order);
    const right = instructionPane(image, order);
    expect(rowNamed("7", left, right)).toEqual({ side: "left", row: 3 });
    expect(rowNamed("0x20", left, right)).toEqual({ side: "right", row: 2 });
    for (const wrong of [null, "", "9999", "0x7", "7.0"]) {
      expect(rowNamed(wrong, left, right)).toBeNull();
    }
    expect(rowNamed(rowName("right", 48), null, right)).toEqual({ side: "right", row: 3 });
  });
  it("links lines and instructions both ways", () => {
    const [left] = sourcePanes(code, image, order);
    const right = linkBack(left!, instructionPane(image, order));
    expect(left!.rows[3]!.others).toEqual([1, 2]);
    expect(right.rows.map(({ others }) => others)).toEqual([[1], [3], [3], []]);
  });
  it("adds instructions up by line of PTX", () => {
    const pane = ptxPane(image, order)!;
    expect(pane.rows.map(({ at, text, samples }) => [at, text, samples])).toEqual([
      [3, "ld", 10],
      [4, "bar", 50],
    ]);
    expect(pane.rows[1]!.stack[0]).toEqual({ reason: "barrier", samples: 40 });
    expect(ptxPane({ ...image, ptx: [] }, order)).toBeNull();
  });
  it("cuts a kernel's own PTX out of its image", () => {
    const ptx = [
      ".version 9.0",
      ".visible .entry other(",
      "{",
      "}",
      ".visible .entry mine(",
      "{",
      "ret;",
      "}",
      "x",
    ];
    expect(coldPtxPane({ ...image, ptx }, "mine")!.rows.map(({ at, text }) => [at, text])).toEqual([
      [5, ".visible .entry mine("],
      [6, "{"],
      [7, "ret;"],
      [8, "}"],
    ]);
    expect(coldPtxPane({ ...image, ptx }, "nothing")).toBeNull();
  });
  it("walks from hot to less hot and stops at the ends", () => {
    const { rows } = instructionPane(image, order);
    expect(hottest(rows)).toEqual([1, 2, 0]);
    expect(nextHot(rows, null, 1)).toBe(1);
    expect(nextHot(rows, 1, 1)).toBe(2);
    expect(nextHot(rows, 0, 1)).toBe(0);
    expect(nextHot(rows, 1, -1)).toBe(1);
    expect(nextHot(rows, 3, -1)).toBe(1);
    expect(nextHot([], null, 1)).toBeNull();
  });
  it("finds text whatever its case", () => {
    expect(findRows(instructionPane(image, order).rows, "op3")).toEqual([2]);
    expect(findRows(instructionPane(image, order).rows, "")).toEqual([]);
  });
  it("stacks in one order and names each colour once", () => {
    const all = stallOrder({ ...stalls(5, 9), membar: { samples: 2, not_issued: 0 } });
    expect(all.map(({ reason }) => reason)).toEqual(["wait", "barrier", "membar"]);
    expect(legendOf(all).map(({ reason }) => reason)).toEqual(["wait", "barrier"]);
    expect(stackOf(stalls(0, 1), order)).toEqual([{ reason: "wait", samples: 1 }]);
  });
});
