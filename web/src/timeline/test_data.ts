// SPDX-License-Identifier: Apache-2.0
// Small sessions for tests.
import { MemorySource, type MemoryTrack } from "./memory_source";
import type { Segment } from "./tile_cache";
import type { Description, TileTrack, TrackInfo } from "./types";

export function describeTracks(tracks: TrackInfo[], more: Partial<Description> = {}): Description {
  return {
    version: 1,
    isLive: false,
    isComplete: true,
    progress: 1,
    span: [0, 1000],
    tracks,
    series: [],
    problems: [],
    devices: [{ device: 0, name: "NVIDIA H200" }],
    process: "train",
    ...more,
  };
}

export const KERNELS: TrackInfo = {
  id: "kernels:0:1:7",
  kind: "kernels",
  rows: 2,
  events: 5,
  device: 0,
  context: 1,
  stream: 7,
};
export const SCOPES: TrackInfo = { id: "scopes:9", kind: "scopes", rows: 1, events: 1, thread: 9 };

export const NAMES = [
  { label: "gemm", name: "void gemm<float>()", kernelClass: "matrix product" },
  { label: "sum", name: "void sum()", kernelClass: "reduction" },
];

// The second row has what overlaps the first.
export const KERNEL_ROWS: MemoryTrack = {
  id: KERNELS.id,
  names: NAMES,
  rows: [
    { row: 0, start: [100, 300, 600], duration: [100, 200, 50], name: [0, 1, 0] },
    { row: 1, start: [150, 620], duration: [100, 0], name: [1, 1] },
  ],
};
export const SCOPE_ROWS: MemoryTrack = {
  id: SCOPES.id,
  names: [{ label: "step", name: "step" }],
  rows: [{ row: 0, start: [50], duration: [800], name: [0] }],
};

export function smallSource(): MemorySource {
  return new MemorySource({
    description: describeTracks([KERNELS, SCOPES]),
    tracks: [KERNEL_ROWS, SCOPE_ROWS],
    series: [{ id: "device_metric:0:0:1", time: [0, 10, 500], value: [5, 7, 3] }],
  });
}

// A whole session as what a cache gives.
export async function segmentsOf(
  source: MemorySource,
  track: string,
  from = 0,
  to = 1000,
): Promise<Segment<TileTrack>[]> {
  const request = { from, to, width: to - from, tracks: [track], maxEvents: 1e6 };
  const data = (await source.tile(request)).tracks[0]!;
  const isExact = data.rows.every((row) => row.isExact);
  const entry = { key: track, from, to, level: 0, version: 1, isExact, bytes: 0, data };
  return [{ entry, from, to }];
}
