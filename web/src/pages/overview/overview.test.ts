// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Coverage, DeviceTime, GpuTime, Insight, Ledger, Waits } from "../../api/types";
import {
  evidenceStep,
  gainOf,
  groupInsights,
  kernelsKnownTo,
  placeOf,
  timelinePath,
  wordsOf,
} from "./insight_words";
import { countedText, lossesOf, lossWords, verdictTone } from "./ledger_words";
import { missingWaitLines, notRecorded } from "./not_recorded";
import { splitCode } from "../kernels/split_code";
import { busyFact, costFact, costOf, idleFact, memoryFact, stepFact } from "./summary";

const unknown = {
  unknown: "the engine Monitor records no GPU work",
  hint: "record with `gpufl trace`",
};
const coverage: Coverage = {
  is_budgeted: false,
  budget_ppm: null,
  phases: 1,
  covered_ns: 1000,
  whole_ns: 1000,
  share: 1,
  is_last_inferred: false,
  engines: [],
};
const ledger: Ledger = {
  verdict: "complete",
  meaning: "no loss is known",
  rows_read: { kernel: 5 },
  numbers: {
    launches_seen: 5,
    kernel_records: 5,
    callback_ns: 15,
    vendor_overhead_ns: 18,
    rows: { kernel: 5 },
  },
  problem_count: 0,
  problems: [],
};
const DEVICE: DeviceTime = {
  device: 0,
  name: "H200",
  busy_ns: 90,
  busy_share: 0.09,
  recorded_ns: 1000,
  before_ns: 200,
  after_ns: 100,
  idle: { count: 7, total_ns: 600, short_ns: 8, longest: [], by_length: [] },
  first_ns: unknown,
  last_ns: unknown,
  kernels: unknown,
  copies: unknown,
  fills: unknown,
  graphs: unknown,
  kernel_ns: unknown,
  copy_ns: unknown,
  fill_ns: unknown,
  graph_ns: unknown,
  kernel_sum_ns: unknown,
  copy_sum_ns: unknown,
  fill_sum_ns: unknown,
  concurrency: unknown,
  busy_series: unknown,
};
const gpu: GpuTime = {
  recorded_ns: 1000,
  devices: [DEVICE],
  energy_joules: unknown,
  caveats: [],
};

describe("facts", () => {
  it("tells the step with its spread", () => {
    const fact = stepFact({
      label: "step",
      source: "scopes",
      warmups: 1,
      duration_ns: {
        count: 5,
        total: 1,
        min: 32e6,
        max: 41.38e6,
        mean: 37e6,
        median: 36e6,
        p90: 41e6,
      },
    });
    expect(fact).toMatchObject({ value: "36", unit: "ms · 32 to 41.4" });
    expect(fact.hint).toContain("without 1 warm-up");
    const same = { count: 5, total: 15_000, min: 3000, max: 3000, mean: 3000, median: 3000 };
    const alike = stepFact({
      label: "k",
      source: "kernel sequence",
      warmups: 0,
      duration_ns: same,
    });
    expect(alike).toMatchObject({ label: "Step", value: "3", unit: "µs · all alike" });
  });
  it("never makes zero of what is not known", () => {
    expect(stepFact(unknown)).toMatchObject({ value: null });
    const none: GpuTime = { ...gpu, devices: [{ ...DEVICE, busy_ns: unknown }] };
    expect(busyFact(none).value).toBeNull();
    expect(busyFact(none).hint).toBe(
      "The engine Monitor records no GPU work. Record with `gpufl trace`.",
    );
    expect(idleFact({ ...gpu, devices: [] }).value).toBeNull();
    expect(memoryFact(unknown, undefined).value).toBeNull();
    expect(costFact({ ...ledger, numbers: null }, costOf(null, coverage), false).value).toBeNull();
  });
  it("takes a GPU for busy or idle, and says how idle it was between work", () => {
    expect(busyFact(gpu).value).toBe("9.0%");
    expect(idleFact(gpu)).toMatchObject({ value: "91.0%", unit: "· 60.8% in pauses" });
    expect(idleFact(gpu).hint).toContain(
      "608 ns, 7 long pauses. Before its first work 200 ns, after its last 100 ns",
    );
    const idle = { count: 0, total_ns: 0, short_ns: 200, longest: [], by_length: [] };
    const short = idleFact({ ...gpu, devices: [{ ...DEVICE, idle }] });
    expect(short).toMatchObject({ value: "91.0%", unit: "· 20.0% in short pauses" });
    const none = { ...DEVICE, idle: { ...idle, short_ns: 0 } };
    expect(idleFact({ ...gpu, devices: [none] }).unit).toBe("· no pause");
  });
  it("does not call a session cut off that is still being recorded", () => {
    const empty = { ...ledger, numbers: null };
    const hint = (isLive: boolean) => costFact(empty, costOf(null, coverage), isLive).hint;
    expect(hint(true)).toContain("still being recorded");
    expect(hint(false)).toContain("cut off");
  });
  it("prefers what an engine measured of itself", () => {
    expect(costOf(ledger.numbers, coverage).share).toBeCloseTo(0.033);
    const engine = {
      engine: "PcSampling",
      phases: 1,
      phase_ns: 1000,
      windows: 5,
      window_ns: 1,
      cost_ns: 68,
      measure: "calls" as const,
      samples: 0,
      dropped: 0,
    };
    const cost = costOf(ledger.numbers, { ...coverage, engines: [engine] });
    expect(cost.share).toBeCloseTo(0.068);
    expect(cost.parts.map(({ label }) => label)).toEqual([
      "PcSampling",
      "In callbacks",
      "Vendor's library",
    ]);
    expect(costFact(ledger, cost, false)).toMatchObject({ value: "+6.8%" });
  });
});

describe("insights", () => {
  const insight: Insight = {
    rule: "launch_bound",
    category: "LAUNCH",
    severity: "HIGH",
    title: "Launch-bound on GPU 0",
    detail: "5,518 pieces",
    advice: "Use a graph.",
    gain_ns: 126e6,
    gain_share: 0.482,
    gain_of: "session",
    estimate: "",
    confidence: "medium",
    evidence: [{ text: "a", kernel: "f<int>", start_ns: 1_000_000, end_ns: 2_000_000 }],
  };
  it("says it in words, the figures below", () => {
    expect(wordsOf(insight)).toEqual({
      title: "The GPU waits for launches",
      evidence: "Launch-bound on GPU 0",
      more: "5,518 pieces",
    });
    expect(wordsOf({ ...insight, rule: "brand_new" }).title).toBe("Launch-bound on GPU 0");
    const evidence = [{ text: "b", file: "/a/train.py", line: 42 }];
    expect(wordsOf({ ...insight, rule: "sync_attribution", evidence }).title).toBe(
      "The host waits for the GPU at train.py:42",
    );
    expect(wordsOf({ ...insight, rule: "in_loop_sync", evidence }).title).toBe(
      "The host waits for the GPU in a loop at train.py:42",
    );
    expect(wordsOf({ ...insight, rule: "in_loop_sync" }).title).toBe(
      "The host waits for the GPU in a loop",
    );
    expect(gainOf(insight)).toEqual({ text: "−48.2%", more: "126 ms, medium confidence" });
    expect(gainOf({ ...insight, gain_ns: null })).toBeNull();
  });
  it("leads to the line, else to the kernel", () => {
    expect(placeOf(insight)?.path).toBe("kernels/f%3Cint%3E");
    const evidence = [{ text: "b", file: "/a/train.py", line: 42 }];
    expect(placeOf({ ...insight, rule: "in_loop_sync", evidence })).toEqual({
      text: "train.py:42",
      title: "/a/train.py:42",
      path: "sync?line=%2Fa%2Ftrain.py%3A42",
      isWait: true,
    });
    const gap = placeOf({ ...insight, rule: "idle_gaps", evidence });
    expect(gap).toMatchObject({ path: "sync?line=%2Fa%2Ftrain.py%3A42", isWait: false });
    expect(placeOf({ ...insight, evidence })?.path).toContain("kernels?by=line");
    expect(placeOf({ ...insight, evidence: [] })).toBeNull();
  });
  it("shows the stretch with a little around it", () => {
    expect(timelinePath(insight.evidence[0]!)).toBe(
      "timeline?from=900000&to=2100000&sel=1000000,2000000&span=1000000,2000000",
    );
    expect(timelinePath({ text: "", start_ns: 5000 })).toBe("timeline?from=4000&to=6000&at=5000");
    expect(timelinePath({ text: "" })).toBeNull();
  });
  it("leads to the page that shows what has no time", () => {
    const timeless = { ...insight, evidence: [{ text: "GPU 0" }] };
    expect(evidenceStep(insight)?.path).toContain("timeline?from=900000");
    expect(evidenceStep({ ...timeless, rule: "memory_nearly_full" })?.path).toBe("memory");
    expect(evidenceStep({ ...timeless, rule: "launch_bound" })).toBeNull();
    expect(evidenceStep({ ...timeless, rule: "warp_bubbles" })?.path).toBe("timeline");
    expect(evidenceStep({ ...timeless, rule: "warp_group_bound" })?.path).toBe("timeline");
  });
  it("leads to no kernel that the session does not have", () => {
    const warps = { rule: "warp_bubbles", evidence: [{ text: "", kernel: "take_turns" }] };
    expect(placeOf(warps, kernelsKnownTo(unknown))).toMatchObject({
      text: "take_turns",
      path: null,
    });
    expect(placeOf(warps)?.path).toBe("kernels/take_turns");
  });
  it("says once what is the same of many GPUs", () => {
    const idle = (gpu: number) => ({ ...insight, rule: "idle_gaps", title: `GPU ${gpu} idle` });
    const groups = groupInsights([idle(0), { ...insight, rule: "throttling" }, idle(1), idle(2)]);
    expect(groups.map(({ first, others }) => [first.title, others.length])).toEqual([
      ["GPU 0 idle", 2],
      [insight.title, 0],
    ]);
    const at = (line: number) => ({ ...insight, evidence: [{ text: "", file: "/a.py", line }] });
    expect(groupInsights([at(1), at(2)])).toHaveLength(2);
    const of = (rule: string) => (kernel: string) => ({
      ...insight,
      rule,
      evidence: [{ text: "", kernel }],
    });
    // What GPUs wait for is about them; what a kernel does is about the kernel.
    expect(groupInsights(["gemm", "add"].map(of("launch_bound")))).toHaveLength(1);
    expect(groupInsights(["gemm", "add"].map(of("partial_wave")))).toHaveLength(2);
  });
  it("has no share that rounds to nothing, and groups digits", () => {
    const title = "StreamSynchronize × 49999 · 71.4us (0.0% of session)";
    expect(wordsOf({ ...insight, title }).evidence).toBe(
      "StreamSynchronize × 49,999 · 71.4 µs (<0.1% of session)",
    );
  });
});

it("counts one of them as one", () => {
  const one = (what: string) => lossWords(what, 1);
  expect(one("readings missed: the sampler came too late")).toBe(
    "reading missed: the sampler came too late",
  );
  expect(one("launches still running at the end")).toBe("launch still running at the end");
  expect(one("call stacks dropped")).toBe("call stack dropped");
  expect(one("written rows that cannot be read")).toBe("written row that cannot be read");
  expect(lossWords("notes of launches dropped", 2)).toBe("notes of launches dropped");
});

describe("advice", () => {
  it("tells commands from words", () => {
    expect(splitCode("Record with x (gpufl trace --memory), or `gpufl log`.")).toEqual([
      { text: "Record with x (", isCode: false },
      { text: "gpufl trace --memory", isCode: true },
      { text: "), or ", isCode: false },
      { text: "gpufl log", isCode: true },
      { text: ".", isCode: false },
    ]);
    expect(splitCode("Fuse them (torch.compile).")).toHaveLength(1);
  });
});

describe("trust", () => {
  it("counts what is missing and says why", () => {
    expect(lossesOf(ledger)).toEqual([]);
    expect(countedText(ledger)).toBe("5 of 5 launches recorded");
    const bad: Ledger = {
      ...ledger,
      verdict: "incomplete",
      rows_read: { kernel: 3 },
      numbers: { vendor_dropped: 4, rows: { kernel: 5 }, dropped: { pc_sample: 2 } },
    };
    expect(lossesOf(bad).map(({ number }) => number)).toEqual([4, 2, 2]);
    expect([
      verdictTone(ledger),
      verdictTone(bad),
      verdictTone({ ...bad, verdict: "cut off" }),
    ]).toEqual(["good", "bad", "warn"]);
  });
  it("says what was not recorded, once for each reason", () => {
    const list = notRecorded(
      [
        {
          feature: "stacks",
          asked: "on",
          got: "off",
          as_asked: false,
          reason: "no_libdw",
          detail: "",
          hint: "install libdw",
        },
        {
          feature: "health",
          asked: "on",
          got: "on",
          as_asked: true,
          reason: "",
          detail: "",
          hint: "",
        },
        {
          feature: "profiling_engine",
          asked: "PcSampling",
          got: "Trace",
          as_asked: false,
          reason: "not_built",
          detail: "",
          hint: "",
        },
      ],
      [
        ["Stalls", unknown],
        ["Steps", unknown],
        ["Memory", []],
      ],
    );
    expect(list.map(({ what }) => what)).toEqual(["Call stacks", "Engine", "Stalls, steps"]);
    expect(list[0]).toMatchObject({ why: "No libdw.", how: "Install libdw." });
    expect(list[1]?.why).toBe("PcSampling was asked for, Trace was used. Not built.");
  });
  it("tells lines of waits from those of launches", () => {
    const [call] = [{ call: "cudaStreamSynchronize", blocked_ns: { count: 1, total: 5 } }];
    const waits = { by_call: [call], by_line: [] } as unknown as Waits;
    expect(missingWaitLines(waits, true)?.hint).toMatch(/--stacks/);
    expect(missingWaitLines(waits, false)).toBeNull();
    expect(missingWaitLines({ ...waits, by_call: [] }, true)).toBeNull();
    expect(missingWaitLines(unknown, true)).toBeNull();
  });
  it("does not say that anybody asked for another tool", () => {
    const imported = { asked: "gpufl", got: "torch_profiler", as_asked: false, reason: "imported" };
    const list = notRecorded([{ feature: "recording", ...imported, detail: "", hint: "" }], []);
    expect(list).toEqual([
      { what: "Recording by gpufl", why: "Imported from torch.profiler.", how: "" },
    ]);
  });
});
