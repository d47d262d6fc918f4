// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { EventDetail, EventRef } from "../../timeline";
import { extent, factsOf, rowOf } from "./event_facts";
import { sumKinds } from "./selection_facts";

const EVENT: EventRef = {
  track: "kernels:0:1:7",
  row: 0,
  event: "device.1.4.0",
  start: 104_512_386,
  end: 104_527_596,
  label: "gemm",
  name: "void gemm()",
};
const DETAIL: EventDetail = {
  values: {
    start_ns: 104_512_386,
    duration_ns: 15_210,
    grid: [132, 1, 1],
    block: [384, 1, 1],
    registers: 168,
    shared_static: 0,
    shared_dynamic: 2048,
    occupancy: 0.1875,
    occupancy_bound: "shared_memory",
    api_start_ns: 104_500_000,
    api_duration_ns: 5_000,
    device: 0,
    stream: 7,
  },
  partner: null,
  scopes: ["step", "forward"],
  markers: [
    { label: "Gpt.blocks.4.mlp", domain: "torch.module" },
    { label: "aten::linear", domain: "torch.op" },
  ],
  site: {
    text: "gpt_model.py:45 in Gpt.forward()",
    file: "/work/gpt_model.py",
    line: 45,
    source: "    return self.head(x)",
  },
};

describe("facts of an event", () => {
  it("say what the log has in words and units", () => {
    const facts = new Map(
      factsOf(EVENT, DETAIL).map(({ label, value, note }) => [
        label,
        note ? `${value}, ${note}` : value,
      ]),
    );
    expect(Object.fromEntries(facts)).toEqual({
      duration: "15.21 µs",
      start: "104.512 386 ms",
      scope: "step › forward",
      operator: "aten::linear",
      module: "Gpt.blocks.4.mlp",
      line: "gpt_model.py:45 in Gpt.forward(), return self.head(x)",
      launch: "132 blocks of 384 threads",
      registers: "168 a thread",
      shared: "2 KiB, 2 KiB of it dynamic",
      occupancy: "18.8%, limited by shared memory",
      "called at": "104.500 000 ms",
      "call took": "5 µs",
      waited: "12.39 µs, from call to start",
      GPU: "0",
      stream: "7",
    });
  });
  it("copy whole nanoseconds", () => {
    expect(factsOf(EVENT, null).map(({ copy }) => copy)).toEqual(["15210", "104512386"]);
  });
  it("tell a call from its work, and a wait from both", () => {
    const none = { partner: null, scopes: [], markers: [] };
    const labelsOf = (track: string, values: Record<string, number>) =>
      factsOf({ ...EVENT, track }, { ...none, values }).map(({ label }) => label);
    const times = { api_start_ns: 5, api_duration_ns: 10, start_ns: 5, duration_ns: 10 };
    expect(labelsOf("kernel_calls:1", times)[0]).toBe("call took");
    expect(labelsOf("waits:1", times)).toEqual(["duration", "start", "line"]);
  });
  it("leave out what is not known", () => {
    const labels = factsOf(EVENT, { values: {}, partner: null, scopes: [], markers: [] }).map(
      ({ label }) => label,
    );
    expect(labels).toEqual(["duration", "start"]);
  });
  it("show sizes and the row of the log", () => {
    expect(extent([64, 2, 1])).toBe("64×2");
    expect(rowOf(DETAIL).find(([name]) => name === "grid")).toEqual(["grid", "[132,1,1]"]);
  });
});

it("adds tracks of a kind together", () => {
  const name = { label: "a", name: "a" };
  const track = (id: string, count: number, busyNs: number) => ({
    id,
    count,
    busyNs,
    hasAllNames: true,
    names: [{ ...name, count, busyNs }],
  });
  const sums = sumKinds([
    track("waits:1", 0, 0),
    track("kernels:0:1:7", 2, 30),
    track("kernels:0:1:8", 1, 5),
  ]);
  expect(sums).toEqual([
    {
      kind: "kernels",
      count: 3,
      busyNs: 35,
      tracks: 2,
      hasAllNames: true,
      names: [{ ...name, count: 3, busyNs: 35 }],
    },
  ]);
});
