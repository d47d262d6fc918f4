// SPDX-License-Identifier: Apache-2.0
// Frames for tests: what there is to draw, and what was drawn as text.
import type { FrameLists, Scene } from "./draw_frame";
import type { DrawList, PixelRow, Rects } from "./draw_list";
import { layOut } from "./layout";
import type { MemorySource } from "./memory_source";
import { INK } from "./palette";
import { segmentsOf } from "./test_data";
import { groupTracks } from "./tracks";

// The session as it is drawn, all of it unless `more` says otherwise.
export async function sceneOf(
  source: MemorySource,
  more: Partial<Scene> & { pinned?: readonly string[] } = {},
): Promise<Scene> {
  const description = await source.describe();
  const layout = layOut(groupTracks(description), {
    toggled: new Set(),
    pinned: more.pinned ?? [],
    isCompact: false,
  });
  const [from, to] = description.span!;
  const all = new Map(
    await Promise.all(
      description.tracks.map(
        async ({ id }) => [id, await segmentsOf(source, id, from, to)] as const,
      ),
    ),
  );
  return {
    view: { from, to },
    whole: { from, to },
    showsUnknown: false,
    width: 1000,
    height: 400,
    scale: 1,
    textOn: new Uint8Array(32).fill(INK.panel),
    isFound: null,
    shorten: (text, width) => (text.length * 6 <= width ? text : ""),
    layout,
    scroll: 0,
    tracksOf: (id) => all.get(id) ?? [],
    seriesOf: () => [],
    wholeSeriesOf: () => null,
    scaleOf: () => undefined,
    selected: null,
    partner: null,
    work: [],
    hovered: null,
    range: null,
    cursor: null,
    charWidth: 6,
    ...more,
  };
}

const NAMED = new Map<number, string>(Object.entries(INK).map(([name, ink]) => [ink, name]));

function ink(color: number): string {
  return NAMED.get(color) ?? `ink ${color}`;
}

const round = (value: number) => Math.round(value * 100) / 100;

function rectLines(kind: string, { count, x, y, w, h, color }: Rects): string[] {
  return Array.from(
    { length: count },
    (_, i) => `${kind} ${[x[i]!, y[i]!, w[i]!, h[i]!].map(round).join(" ")} ${ink(color[i]!)}`,
  );
}

// Neighbours that are alike as one.
function pixelLines({ x, y, width, height, level, color, ground }: PixelRow): string[] {
  const lines = [`pixels ${round(x)} ${round(y)} ${width} ${round(height)} on ${ink(ground)}`];
  for (let at = 0; at < width;) {
    let end = at + 1;
    while (end < width && level[end] === level[at] && (!level[at] || color[end] === color[at]))
      ++end;
    if (level[at]) lines.push(`  ${at} to ${end}: ${level[at]} ${ink(color[at]!)}`);
    at = end;
  }
  return lines;
}

function listLines(list: DrawList): string[] {
  const { area, ground, rects, pixelRows, texts, lines, outlines, arrows } = list;
  const { hatches, shades } = list;
  const boxes = (kind: string, of: typeof shades) =>
    of.map((one) => `${kind} ${one.x} ${one.y} ${one.w} ${one.h} ${ink(one.color)}`);
  return [
    ...boxes("area", [area]),
    ...rectLines("ground", ground),
    ...rectLines("rect", rects),
    ...pixelRows.flatMap(pixelLines),
    ...lines.map(
      ({ points, color, width, base }) =>
        `line ${points.map(round).join(" ")} ${ink(color)} ${round(width)} ${base === null ? "" : round(base)}`,
    ),
    ...texts.map(
      ({ x, y, text, color, size, isBold }) =>
        `text ${round(x)} ${round(y)} ${size}${isBold ? " bold" : ""} ${ink(color)}: ${text}`,
    ),
    ...boxes("hatch", hatches),
    ...boxes("shade", shades),
    ...boxes("outline", outlines),
    ...arrows.map(
      ({ fromX, fromY, toX, toY }) => `arrow ${round(fromX)} ${round(fromY)} ${toX} ${toY}`,
    ),
  ].map((line) => line.trimEnd());
}

// All of a frame, a line for each thing that is drawn.
export function frameText({ scrolled, pinned, top }: FrameLists): string {
  const parts = Object.entries({ scrolled, pinned, top });
  return parts.map(([name, list]) => [`-- ${name}`, ...listLines(list), ""].join("\n")).join("\n");
}
