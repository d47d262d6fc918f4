// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { EventDetail, EventRef } from "../../timeline";
import { extent, factsOf, rowOf } from "./event_facts";
import type { TrackInfo } from "../../timeline/types";
import { countWords, sumKinds, timeWords } from "./selection_facts";

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
      registers: "168 per thread",
      shared: "2 KiB, 2 KiB of it dynamic",
      occupancy: "18.8%, limited by shared memory",
      "called at": "104.500 000 ms",
      "call took": "5 µs",
      waited: "12.39 µs, from call to start",
      GPU: "0",
      stream: "7",
    });
  });
  it("name what limits occupancy as people do, in old logs, too", () => {
    const limitOf = (values: Record<string, string>) =>
      factsOf(EVENT, {
        values: { occupancy: 0.5, ...values },
        partner: null,
        scopes: [],
        markers: [],
      }).find(({ label }) => label === "occupancy")?.note;
    expect(limitOf({ occupancy_bound: "waves" })).toBe("limited by warps");
    expect(limitOf({ occupancy_bound: "groups" })).toBe("limited by blocks");
    expect(limitOf({ occupancy_limit: "registers" })).toBe("limited by registers");
    expect(limitOf({ occupancy_limit: "shared_memory" })).toBe("limited by shared memory");
    expect(limitOf({})).toBeUndefined();
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

describe("sums of a range", () => {
  const name = { label: "a", name: "a" };
  const sumOf = (id: string, count: number, busyNs: number, reaching = 0) => ({
    id,
    count,
    reaching,
    busyNs,
    hasAllNames: true,
    names: [{ ...name, count, reaching, busyNs }],
  });
  const infoOf = (id: string, domain?: string): TrackInfo => ({
    id,
    kind: id.split(":")[0] as TrackInfo["kind"],
    rows: 1,
    events: 1,
    ...(domain === undefined ? {} : { domain }),
  });

  it("add tracks of a kind together", () => {
    const sums = sumKinds(
      [sumOf("waits:1", 0, 0), sumOf("kernels:0:1:7", 2, 30), sumOf("kernels:0:1:8", 1, 5, 1)],
      [],
    );
    expect(sums).toEqual([
      {
        kind: "kernels",
        words: "kernels",
        count: 3,
        reaching: 1,
        busyNs: 35,
        tracks: 2,
        hasAllNames: true,
        names: [{ ...name, count: 3, reaching: 1, busyNs: 35 }],
      },
    ]);
    expect([countWords(sums[0]!), timeWords(sums[0]!, 100)]).toEqual(["3 and 1 open", "35 ns"]);
  });
  it("are called as the tracks are, each for itself", () => {
    const tracks = [infoOf("markers:1:11", "torch.op"), infoOf("markers:1:13", "torch.module")];
    const sums = sumKinds([sumOf("markers:1:11", 4, 80), sumOf("markers:1:13", 0, 90, 2)], tracks);
    expect(sums.map((sum) => [sum.words, countWords(sum)])).toEqual([
      ["operators", "4"],
      ["modules", "2 open"],
    ]);
  });
  it("count no time twice where one lies in the other", () => {
    const [sum] = sumKinds([sumOf("scopes:1", 0, 277_500, 2)], []);
    expect([countWords(sum!), timeWords(sum!, 138_700)]).toEqual(["2 open", ""]);
  });
});
