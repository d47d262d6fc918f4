// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { eventNote, eventTitle } from "./tracks";

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
