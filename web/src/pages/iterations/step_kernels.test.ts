// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { kernelsIn } from "./step_kernels";

it("adds up a kernel over streams and leaves out what is no kernel", () => {
  const track = (
    id: string,
    names: { label: string; name?: string; count: number; busy_ns: number }[],
  ) => ({
    id,
    names: names.map((name) => ({ ...name, reaching: 0 })),
  });
  const found = kernelsIn([
    track("kernels:0:1:7", [
      { label: "add", name: "add<float>", count: 2, busy_ns: 10 },
      { label: "gemm", count: 1, busy_ns: 15 },
    ]),
    track("kernels:0:1:8", [{ label: "add", name: "add<float>", count: 1, busy_ns: 20 }]),
    track("waits:3", [{ label: "wait", count: 9, busy_ns: 900 }]),
  ]);
  expect(found).toEqual([
    { label: "add", name: "add<float>", count: 3, busy_ns: 30 },
    { label: "gemm", name: "gemm", count: 1, busy_ns: 15 },
  ]);
});
