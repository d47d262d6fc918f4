// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { drawFrame, makeLists, RULER_PX, type Scene } from "./draw_frame";
import type { DrawList } from "./draw_list";
import { allot, MOST_RECTS, type RowJob } from "./draw_rows";
import { lineOf } from "./draw_series";
import { finder } from "./hit";
import { MemorySource } from "./memory_source";
import { classInk, INK } from "./palette";
import { describeTracks, KERNELS, NAMES, SCOPES, smallSource } from "./test_data";
import { sceneOf } from "./test_scene";
import type { EventRef } from "./types";

function rectsOf({ rects }: DrawList): number[][] {
  return Array.from({ length: rects.count }, (_, i) => [
    rects.x[i]!,
    rects.y[i]!,
    rects.w[i]!,
    rects.h[i]!,
    rects.color[i]!,
  ]);
}

function draw(scene: Scene) {
  const lists = makeLists();
  drawFrame(scene, lists);
  return lists;
}

const gemm = classInk("matrix product");
const sum = classInk("reduction");

describe("a frame", () => {
  it("draws what is not looked for faintly, and without a name", async () => {
    const { scrolled } = draw(await sceneOf(smallSource(), { isFound: finder("GEMM") }));
    const colors = rectsOf(scrolled).map((rect) => rect[4]);
    expect(colors).toEqual([gemm, INK.line, gemm, INK.line, INK.line, INK.line]);
    expect(scrolled.texts.map(({ text }) => text)).toEqual(["gemm", "gemm"]);
  });
  it("fills blocks that stand for several as far as they are busy", async () => {
    const row = { row: 0, start: [0, 500, 900], duration: [400, 400, 90], name: [0, 1, 1] };
    const source = new MemorySource({
      description: describeTracks([{ ...KERNELS, rows: 1 }]),
      tracks: [
        { id: KERNELS.id, names: NAMES, rows: [{ ...row, count: [9, 1, 3], busy: [200, 400, 9] }] },
      ],
      series: [],
    });
    const { scrolled } = draw(await sceneOf(source));
    const [first, second] = rectsOf(scrolled);
    expect(first![3]! / second![3]!).toBeCloseTo(0.5, 1);
    expect(first![1]! + first![3]!).toBe(second![1]! + second![3]!);
    expect(scrolled.texts.map(({ text }) => text)).toEqual(["9 × gemm …", "sum", "3 × sum …"]);
    expect(scrolled.texts[2]).toMatchObject({ color: INK.ink2 });
  });
  it("has a rectangle for every event, each in its row", async () => {
    const { scrolled } = draw(await sceneOf(smallSource()));
    const y = RULER_PX + 26;
    expect(rectsOf(scrolled)).toEqual([
      [100, y, 99, 19, gemm],
      [300, y, 199, 19, sum],
      [600, y, 49, 19, gemm],
      [150, y + 20, 99, 19, sum],
      [620, y + 20, 1, 19, sum],
      [50, 127, 799, 17, INK.scope],
    ]);
    expect(scrolled.pixelRows).toEqual([]);
    expect(scrolled.texts.map(({ text, x }) => [text, x])).toEqual([
      ["gemm", 105],
      ["sum", 305],
      ["gemm", 605],
      ["sum", 155],
      ["step", 55],
    ]);
  });
  it("draws only rows in view", async () => {
    const scene = await sceneOf(smallSource(), { scroll: 80, height: 60 });
    expect(rectsOf(draw(scene).scrolled).map(([, , , , color]) => color)).toEqual([INK.scope]);
  });
  it("shows idle time of a GPU as ground", async () => {
    const { scrolled } = draw(await sceneOf(smallSource()));
    const grounds = Array.from(scrolled.ground.color.slice(0, scrolled.ground.count));
    const at = grounds.indexOf(INK.idle);
    expect(at).toBeGreaterThanOrEqual(0);
    expect([scrolled.ground.x[at], scrolled.ground.w[at], scrolled.ground.h[at]]).toEqual([
      0, 1000, 39,
    ]);
  });
  it("is a row of pixels where slices are too thin, with busy shares as height", async () => {
    // In each pixel of ten nanoseconds two kernels of two: 40 percent of the time.
    const start = Array.from({ length: 2000 }, (_, i) => i * 5);
    const source = new MemorySource({
      description: describeTracks([{ ...KERNELS, rows: 1 }], { span: [0, 10_000] }),
      tracks: [
        {
          id: KERNELS.id,
          names: [{ label: "a", name: "a", kernelClass: "matrix product" }],
          rows: [{ row: 0, start, duration: start.map(() => 2), name: start.map(() => 0) }],
        },
      ],
      series: [],
    });
    const { scrolled } = draw(await sceneOf(source));
    expect(scrolled.rects.count).toBe(0);
    const [row] = scrolled.pixelRows;
    expect([row!.x, row!.width, row!.ground]).toEqual([0, 1000, INK.idle]);
    expect([...row!.level.slice(0, 1000)].every((level) => level === Math.round(0.4 * 255))).toBe(
      true,
    );
    expect(row!.color[500]).toBe(gemm);
  });
  it("lets no thin event vanish among pixels", async () => {
    const start = Array.from({ length: 500 }, (_, i) => i * 200_000);
    const source = new MemorySource({
      description: describeTracks([{ ...KERNELS, rows: 1 }], { span: [0, 1e8] }),
      tracks: [
        {
          id: KERNELS.id,
          names: [{ label: "a", name: "a", kernelClass: "matrix product" }],
          rows: [{ row: 0, start, duration: start.map(() => 1), name: start.map(() => 0) }],
        },
      ],
      series: [],
    });
    const [row] = draw(await sceneOf(source)).scrolled.pixelRows;
    expect([...row!.level].filter((level) => level > 0).length).toBe(500);
  });
  it("marks what is selected, joins it with its call and shades the range", async () => {
    const event: EventRef = {
      track: KERNELS.id,
      row: 1,
      event: "e",
      start: 150,
      end: 250,
      label: "sum",
      name: "sum",
    };
    const partner: EventRef = { ...event, track: SCOPES.id, row: 0, start: 50, end: 850 };
    const { top } = draw(
      await sceneOf(smallSource(), { selected: event, partner, range: [400, 500] }),
    );
    expect(top.outlines.map(({ x, w, color }) => [x, w, color])).toEqual([
      [50, 800, INK.accent],
      [150, 100, INK.ink],
    ]);
    expect(top.arrows).toEqual([{ fromX: 54, fromY: 127, toX: 150, toY: 92 }]);
    const other: EventRef = { ...event, row: 0, start: 300, end: 350 };
    const graph = draw(await sceneOf(smallSource(), { selected: event, partner, work: [other] }));
    expect(graph.top.outlines.map(({ x, w }) => [x, w])).toContainEqual([300, 50]);
    expect(graph.top.arrows.map(({ toX }) => toX)).toEqual([150, 300]);
    expect(top.shades[0]).toMatchObject({ x: 400, w: 100, y: RULER_PX, color: INK.select });
  });
  it("has an arrow from what is far out of view", async () => {
    const call: EventRef = {
      track: SCOPES.id,
      row: 0,
      event: "b",
      start: 50,
      end: 60,
      label: "launch",
      name: "launch",
    };
    const work: EventRef = { ...call, track: KERNELS.id, event: "a", start: 800_400, end: 800_600 };
    const shown = { selected: work, partner: call, whole: { from: 0, to: 900_000 } };
    const view = { from: 800_000, to: 801_000 };
    const { top } = draw(await sceneOf(smallSource(), { ...shown, view }));
    expect(top.arrows.map(({ fromX, toX }) => [fromX, toX])).toEqual([[-250, 400]]);
    const beside = { from: 700_000, to: 701_000 };
    const between = draw(await sceneOf(smallSource(), { ...shown, view: beside }));
    expect(between.top.arrows.map(({ fromX, toX }) => [fromX, toX])).toEqual([[-250, 1250]]);
    // Nothing is seen of one that ends before it gets there.
    const after = { from: 850_000, to: 851_000 };
    expect(draw(await sceneOf(smallSource(), { ...shown, view: after })).top.arrows).toEqual([]);
  });
  it("hatches what was never read, within the session", async () => {
    const scene = await sceneOf(smallSource(), { view: { from: -500, to: 1500 } });
    const segments = scene.tracksOf(KERNELS.id).map((one) => ({ ...one, from: 200, to: 600 }));
    const cut: Scene = { ...scene, tracksOf: (id) => (id === KERNELS.id ? segments : []) };
    const lists = makeLists();
    expect(drawFrame(cut, lists)).toBe(true);
    expect(lists.scrolled.hatches).toEqual([]);
    drawFrame({ ...cut, showsUnknown: true }, lists);
    expect(lists.scrolled.hatches.map(({ x, w, h }) => [x, w, h])).toEqual([
      [250, 100, 39],
      [550, 200, 39],
      [250, 500, 17],
    ]);
    expect(drawFrame({ ...scene, showsUnknown: true }, lists)).toBe(false);
    expect(lists.scrolled.hatches).toEqual([]);
  });
  it("shows little as little", async () => {
    // In each pixel of ten thousand nanoseconds one kernel of sixty.
    const start = Array.from({ length: 1000 }, (_, i) => i * 10_000);
    const source = new MemorySource({
      description: describeTracks([{ ...KERNELS, rows: 1 }], { span: [0, 10_000_000] }),
      tracks: [
        {
          id: KERNELS.id,
          names: [{ label: "a", name: "a" }],
          rows: [{ row: 0, start, duration: start.map(() => 60), name: start.map(() => 0) }],
        },
      ],
      series: [],
    });
    const { scrolled } = draw(await sceneOf(source));
    const [row] = scrolled.pixelRows;
    const heightOf = (level: number) => Math.ceil((level * row!.height) / 255);
    expect(Math.max(...row!.level.slice(0, 1000).map(heightOf))).toBe(2);
  });
  it("has marks of the ruler that say where they are", async () => {
    const { top } = draw(await sceneOf(smallSource()));
    expect(top.texts.slice(0, 3).map(({ text, x }) => [text, x])).toEqual([
      ["0.0 µs", 5],
      ["0.1 µs", 105],
      ["0.2 µs", 205],
    ]);
  });
});

it("gives rectangles to rows with few slices first, and never more than there are", () => {
  const job = (count: number) => ({ first: 0, end: count, asPixels: false }) as RowJob;
  const jobs = [job(7000), job(500), job(900), job(100)];
  allot(jobs, MOST_RECTS);
  expect(jobs.map(({ asPixels }) => asPixels)).toEqual([true, false, false, false]);
});

it("holds a reading until the next one", () => {
  const data = {
    id: "a",
    stepNs: 1,
    at: Float64Array.of(100, 600),
    min: Float64Array.of(0, 10),
    max: Float64Array.of(0, 10),
    last: Float64Array.of(0, 10),
  };
  const entry = {
    key: "a",
    from: 0,
    to: 1000,
    level: 0,
    version: 1,
    isExact: false,
    bytes: 0,
    data,
  };
  const box = { y: 0, width: 1000, height: 20, color: 1, lineWidth: 1 };
  const line = lineOf(
    [{ entry, from: 0, to: 1000 }],
    data,
    { least: 0, most: 10 },
    { from: 0, to: 1000 },
    box,
  );
  expect(line?.points).toEqual([100, 20, 600, 20, 600, 0, 600, 0]);
});
