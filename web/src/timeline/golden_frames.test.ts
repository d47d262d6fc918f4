// SPDX-License-Identifier: Apache-2.0
// Whole frames against golden/: `npx vitest run -u` writes them anew after a change that is meant.
import { expect, it } from "vitest";
import { drawFrame, makeLists, type Scene } from "./draw_frame";
import { finder } from "./hit";
import { MemorySource } from "./memory_source";
import {
  describeTracks,
  KERNEL_ROWS,
  KERNELS,
  NAMES,
  SCOPE_ROWS,
  SCOPES,
  smallSource,
} from "./test_data";
import { frameText, sceneOf } from "./test_scene";
import type { EventRef, SeriesInfo, TrackInfo } from "./types";

function drawn(scene: Scene): string {
  const lists = makeLists();
  drawFrame(scene, lists);
  return frameText(lists);
}

const CALLS: TrackInfo = {
  id: "kernel_calls:9",
  kind: "kernel_calls",
  rows: 1,
  events: 2,
  thread: 9,
};
const WAITS: TrackInfo = { id: "waits:9", kind: "waits", rows: 1, events: 1, thread: 9 };
const POWER: SeriesInfo = {
  id: "device_metric:0:0:1",
  kind: "device_metric",
  metric: "power_mw",
  device: 0,
  index: 0,
};
const READINGS = { id: POWER.id, time: [0, 400, 800], value: [90_000, 650_000, 120_000] };

function wholeSource(): MemorySource {
  return new MemorySource({
    description: describeTracks([KERNELS, SCOPES, CALLS, WAITS], { series: [POWER] }),
    tracks: [
      KERNEL_ROWS,
      SCOPE_ROWS,
      {
        id: CALLS.id,
        names: [{ label: "cudaLaunchKernel", name: "cudaLaunchKernel" }],
        rows: [{ row: 0, start: [60, 110], duration: [30, 30], name: [0, 0] }],
      },
      {
        id: WAITS.id,
        names: [{ label: "cudaDeviceSynchronize", name: "cudaDeviceSynchronize" }],
        rows: [{ row: 0, start: [300], duration: [400], name: [0] }],
      },
    ],
    series: [READINGS],
  });
}

const KERNEL: EventRef = {
  track: KERNELS.id,
  row: 0,
  event: "device.1.0.1",
  start: 300,
  end: 500,
  label: "sum",
  name: "void sum()",
};
const CALL: EventRef = { ...KERNEL, track: CALLS.id, start: 110, end: 140, label: "launch" };

it("tracks of all sorts, with a selection, its call, a range and the cursor", async () => {
  const source = wholeSource();
  const answer = await source.series({ from: 0, to: 1000, width: 1000, series: [POWER.id] });
  const [data] = answer.series;
  const entry = {
    key: POWER.id,
    from: 0,
    to: 1000,
    level: 0,
    version: 1,
    isExact: false,
    bytes: 0,
  };
  const scene = await sceneOf(source, {
    seriesOf: () => [{ entry: { ...entry, data: data! }, from: 0, to: 1000 }],
    wholeSeriesOf: () => data!,
    scaleOf: () => ({ least: 0, most: 700_000 }),
    selected: KERNEL,
    partner: CALL,
    work: [{ ...KERNEL, row: 1, start: 620, end: 620 }],
    hovered: { ...KERNEL, start: 600, end: 650 },
    range: [700, 900],
    cursor: 650,
  });
  await expect(drawn(scene)).toMatchFileSnapshot("golden/whole.txt");
});

it("a pinned track, the others scrolled, at two pixels of the device to one of the page", async () => {
  const scene = await sceneOf(smallSource(), {
    pinned: [KERNELS.id],
    scroll: 40,
    height: 300,
    scale: 2,
    view: { from: 100, to: 700 },
    isFound: finder("gemm"),
  });
  await expect(drawn(scene)).toMatchFileSnapshot("golden/pinned.txt");
});

it("more than there are pixels, beside blocks that stand for several", async () => {
  const start = Array.from({ length: 2000 }, (_, i) => i * 5);
  const steps = { row: 1, start: [0, 4000, 7000], duration: [3000, 2000, 400] };
  const source = new MemorySource({
    description: describeTracks([KERNELS], { span: [0, 10_000] }),
    tracks: [
      {
        id: KERNELS.id,
        names: NAMES,
        rows: [
          {
            row: 0,
            start,
            duration: start.map((_, i) => (i < 500 ? 2 : 4)),
            name: start.map((_, i) => Number(i >= 1000)),
          },
          { ...steps, name: [0, 1, 1], count: [900, 1, 40], busy: [1500, 2000, 100] },
        ],
      },
    ],
    series: [],
  });
  const scene = await sceneOf(source, { width: 400, height: 200 });
  await expect(drawn(scene)).toMatchFileSnapshot("golden/pixels.txt");
});
