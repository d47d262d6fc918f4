// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { eventNote, eventTitle, groupTracks } from "./tracks";
import type { TrackInfo } from "./types";

it("calls an event the same wherever it was found", () => {
  const said = (track: string, label: string, kernelClass?: string) => {
    const event = { track, label, kernelClass };
    return [eventTitle(event), eventNote(event)];
  };
  // What a tile says of a launch, and what its kernel says of it.
  expect(said("kernel_calls:9", "gemm")).toEqual(["Launch of gemm", ""]);
  expect(said("kernel_calls:9", "gemm", "other")).toEqual(["Launch of gemm", ""]);
  expect(said("kernel_calls:9", "launch")).toEqual(["launch", ""]);
  expect(said("kernels:0:1:7", "gemm", "matrix product")).toEqual(["gemm", "matrix product"]);
  expect(said("kernels:0:1:7", "step", "other")).toEqual(["step", "kernel"]);
  expect(said("scopes:9", "step")).toEqual(["step", "scope"]);
});

it("names a GPU by its number where its name is not known", () => {
  const track: TrackInfo = {
    id: "kernels:0:1:7",
    kind: "kernels",
    device: 0,
    context: 1,
    stream: 7,
    rows: 1,
    events: 1,
  };
  const titleOf = (devices: { device: number; name: string }[]) =>
    groupTracks({
      version: 1,
      isLive: false,
      isComplete: true,
      progress: 1,
      span: [0, 1],
      process: "train",
      tracks: [track],
      series: [],
      devices,
      problems: [],
    })[0]?.title;
  expect(titleOf([{ device: 0, name: "NVIDIA H200" }])).toBe("GPU 0 · H200");
  expect(titleOf([{ device: 0, name: "" }])).toBe("GPU 0");
  expect(titleOf([])).toBe("GPU 0");
});
