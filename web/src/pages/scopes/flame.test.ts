// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Flame, Scope } from "../../api/types";
import {
  byScopes,
  bySamples,
  findNode,
  type FlameNode,
  layout,
  searchFor,
  selfOf,
  tellsStacks,
  wayTo,
} from "./flame";

const SPAN = { startValue: 0, endValue: 100 };
const FILE: Pick<Flame, "shared" | "profiles"> = {
  shared: { frames: [{ name: "main", file: "a.py", line: 3 }, { name: "step" }, { name: "gemm" }] },
  profiles: [
    {
      type: "sampled",
      name: "GPU time",
      unit: "nanoseconds",
      ...SPAN,
      samples: [
        [0, 1, 2],
        [0, 2],
        [0, 1],
      ],
      weights: [60, 30, 10],
    },
    { type: "evented", name: "scopes", unit: "nanoseconds", ...SPAN },
  ],
};

describe("a flame graph of stacks", () => {
  const top = bySamples(FILE, 0);
  it("joins equal beginnings", () => {
    expect(top.value).toBe(100);
    expect(top.children).toHaveLength(1);
    const [main] = top.children;
    expect(main?.children.map(({ name, value }) => [name, value])).toEqual([
      ["step", 70],
      ["gemm", 30],
    ]);
    expect(selfOf(main!.children[0]!)).toBe(10);
    expect(main?.file).toBe("a.py");
  });
  it("finds frames by their id, and the way to them", () => {
    const gemm = top.children[0]!.children[0]!.children[0]!;
    expect(findNode(top, gemm.id)).toBe(gemm);
    expect(findNode(top, "nothing")).toBeNull();
    expect(wayTo(gemm).map(({ name }) => name)).toEqual(["all", "main", "step"]);
  });
  it("counts what is found once, however deep it calls itself", () => {
    expect(searchFor(top, "gemm").value).toBe(90);
    expect(searchFor(top, "m").value).toBe(100);
    expect(searchFor(top, "a.py").ids.size).toBe(1);
    expect(searchFor(top, " ").ids.size).toBe(0);
  });
  it("is nothing to show where no work has a stack", () => {
    const frames = [{ name: "(no stack recorded)" }, { name: "gemm" }, { name: "main" }];
    expect(tellsStacks({ shared: { frames } }, [[0, 1]])).toBe(false);
    expect(
      tellsStacks({ shared: { frames } }, [
        [0, 1],
        [2, 1],
      ]),
    ).toBe(true);
    expect(tellsStacks(FILE, [[0, 1]])).toBe(true);
  });
  it("is empty where there are no samples", () => {
    expect(bySamples(FILE, 1).children).toEqual([]);
    expect(bySamples(FILE, 7).children).toEqual([]);
  });
});

describe("the layout", () => {
  const top = bySamples(FILE, 0);
  it("gives each frame its share of the one above, largest first", () => {
    const placed = layout(top, 0);
    const gemm = placed.filter(({ node }) => node.name === "gemm");
    expect(gemm.map(({ left, width, depth }) => [left, width, depth])).toEqual([
      [0, 0.6, 3],
      [0.7, 0.3, 2],
    ]);
  });
  it("leaves out what nobody would see", () => {
    expect(layout(top, 0.5).some(({ node }) => node.value === 30)).toBe(false);
  });
  it("draws as one what nobody would see one by one", () => {
    const parent = { id: "", name: "all", value: 1000, parent: null, children: [] as FlameNode[] };
    const add = (name: string, value: number) =>
      parent.children.push({ id: name, name, value, parent, children: [] });
    add("wide", 400);
    for (let i = 0; i < 500; ++i) add(`narrow ${i}`, 1);
    add("nothing", 0);
    const placed = layout(parent, 0.01);
    expect(placed.map(({ node, others }) => others ?? node.name)).toEqual(["all", "wide", 500]);
    expect(placed.at(-1)).toMatchObject({ depth: 1, left: 0.4 });
    expect(placed.at(-1)?.width).toBeCloseTo(0.5);
  });
  it("widens what is zoomed into, below the frames around it", () => {
    const step = top.children[0]!.children[0]!;
    const placed = layout(step, 0);
    expect(placed.slice(0, 3).every(({ width }) => width === 1)).toBe(true);
    expect(placed.at(-1)?.width).toBeCloseTo(60 / 70);
  });
});

describe("a flame graph of scopes", () => {
  const scope = (path: string, parent: number | null, total: number, gpu: number | null) =>
    ({
      path,
      name: path,
      parent,
      duration_ns: { count: 1, total },
      total: gpu === null ? { unknown: "no GPU work" } : { gpu_ns: gpu },
    }) as unknown as Scope;
  const SCOPES = [
    scope("step", null, 100, 40),
    scope("step > a", 0, 80, 30),
    scope("step > b", 0, 60, null),
  ];
  it("shows wall time or GPU time", () => {
    expect(byScopes(SCOPES, "wall").value).toBe(100);
    const gpu = byScopes(SCOPES, "gpu");
    expect(gpu.children[0]?.children.map(({ name, value }) => [name, value])).toEqual([
      ["a", 30],
      ["b", 0],
    ]);
  });
  it("stays inside a scope whose threads take longer together", () => {
    const placed = layout(byScopes(SCOPES, "wall"), 0);
    const ends = placed.map(({ left, width }) => left + width);
    expect(Math.max(...ends)).toBeLessThanOrEqual(1 + 1e-9);
  });
});
