// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Diff, DiffEntry } from "../../api/types";
import {
  changeText,
  confidence,
  headline,
  idsOf,
  intervalText,
  launchChange,
  type Metric,
  scopesText,
  valueText,
  warningText,
} from "./diff_words";

function entry(more: Partial<DiffEntry>): DiffEntry {
  return {
    subject: "total",
    metric: "busy",
    verdict: "same",
    a: 100,
    b: 100,
    change: 0,
    low: null,
    high: null,
    repeats_a: 1,
    repeats_b: 1,
    impact_ns: 0,
    ...more,
  };
}

function diff(more: Partial<Diff>): Diff {
  const side = { label: "/x/a", repeats: 1, devices: [], records_gpu_work: true };
  return {
    has_difference: true,
    proof: "none",
    a: side,
    b: { ...side, label: "/x/ab" },
    warnings: [],
    min_change: 0.01,
    min_share: 0.005,
    compared: 4,
    left_out: 0,
    totals: [entry({})],
    findings: [],
    alike: [],
    warps: [],
    ...more,
  };
}

describe("the verdict in words", () => {
  it("begins with the time that a person waits for", () => {
    const totals = [
      entry({ metric: "busy", verdict: "faster", change: -0.2 }),
      entry({ metric: "time", verdict: "slower", a: 32e6, b: 36e6, change: 0.125 }),
    ];
    const iterations = { found: "scopes: step", fewest: 5, most: 5 };
    const per_iteration = { a: iterations, b: iterations };
    const text = "An iteration of B takes 12.5% longer: 32 ms → 36 ms";
    expect(headline(diff({ totals, per_iteration, proof: "repeats" }))).toEqual({
      text,
      tone: "bad",
    });
    // Without a proof it takes no side.
    expect(headline(diff({ totals, per_iteration }))).toEqual({ text, tone: "plain" });
  });
  it("does not call a fourfold time a percentage", () => {
    const totals = [entry({ verdict: "slower", a: 100, b: 420, change: 3.2 })];
    expect(headline(diff({ totals })).text).toBe(
      "In B the GPU is busy 4.2 times as long: 100 ns → 420 ns",
    );
  });
  it("says of what is less what it is less of", () => {
    const text = (metric: Metric) =>
      headline(
        diff({ totals: [entry({ metric, verdict: "faster", a: 100, b: 90, change: -0.1 })] }),
      ).text;
    expect(text("time")).toBe("B takes 10.0% less time: 100 ns → 90 ns");
    expect(text("total")).toBe("In B kernels take 10.0% less time: 100 ns → 90 ns");
    expect(text("busy")).toBe("In B the GPU is busy 10.0% less: 100 ns → 90 ns");
  });
  it("tells no difference from not being able to tell", () => {
    expect(headline(diff({}))).toEqual({ text: "No difference seen", tone: "plain" });
    const proven = headline(diff({ proof: "repeats" }));
    expect(proven).toEqual({ text: "No difference", tone: "good" });
    const totals = [entry({ verdict: "too_noisy", low: -0.03, high: 0.09 })];
    expect(headline(diff({ proof: "repeats", totals })).text).toBe(
      "GPU busy time is too noisy to tell: −3.0% to +9.0%",
    );
    expect(headline(diff({ totals: [] })).text).toBe("There is nothing to compare");
  });
  it("names what differs where the totals do not", () => {
    const findings = [
      entry({ subject: "kernel", verdict: "slower" }),
      entry({ subject: "kernel", verdict: "appeared" }),
      entry({ subject: "kernel", verdict: "changed" }),
    ];
    expect(headline(diff({ findings })).text).toBe(
      "No difference in total, but 1 slower, 1 only in B",
    );
    expect(headline(diff({ findings: findings.slice(2) })).text).toBe(
      "No difference in time; 1 kernel launched differently",
    );
  });
  it("says how sure it is", () => {
    expect(confidence(diff({})).text).toMatch(/^Not proven: 1 run of A and 1 run of B\. .* 5% on/);
    expect(confidence(diff({ proof: "repeats" })).text).toMatch(/all 4 figures together.* 1% are/);
  });
});

describe("figures", () => {
  it("writes changes with their sign", () => {
    expect(changeText(0.146)).toBe("+14.6%");
    expect(changeText(-0.05)).toBe("−5.0%");
    expect(changeText(-3e-6)).toBe("0.0%");
    expect(changeText(0)).toBe("0%");
    expect(changeText(22.27)).toBe("× 23.3");
    expect(changeText(null)).toBe("new");
    expect(intervalText(entry({ low: 0.01, high: 0.02 }))).toBe("+1.0% to +2.0%");
    expect(intervalText(entry({ low: 0, high: 0 }))).toBe("exact");
  });
  it("counts in whole numbers where they are", () => {
    expect(valueText("count", 1053)).toBe("1,053");
    expect(valueText("count", 2.5)).toBe("2.5");
    expect(valueText("median", 1500)).toBe("1.5 µs");
  });
});

it("calls sides by their letters, even if one path begins with the other", () => {
  expect(warningText("gpt in /x/a, bert in /x/ab", diff({}))).toBe("gpt in A, bert in B");
});

it("shows what changed of launches, and only that", () => {
  const one = { scope: "step", config: "grid 1" };
  const change = (b: DiffEntry["launches_b"]) =>
    launchChange(entry({ launches_a: [one], launches_b: b ?? [] }));
  expect(change([one])).toBe("");
  expect(change([{ ...one, config: "grid 2" }])).toBe("grid 1 → grid 2");
  expect(change([{ scope: "", config: "grid 1" }])).toBe("step → no scope");
  expect(change([one, { ...one, config: "grid 2" }])).toBe("grid 1 → 2 configurations");
  expect(launchChange(entry({}))).toBe("");
});

it("says why kernels are compared without scopes", () => {
  const text = (sides: "A" | "B" | "A and B", a: string[], b: string[]) =>
    scopesText({
      scopes_apart: { a, b, has_scopes_a: sides !== "B", has_scopes_b: sides !== "A" },
    });
  const rest = ": kernels are compared whatever their scopes.";
  expect(scopesText({})).toBe("");
  expect(text("B", [], ["step", "load", "save", "a", "b"])).toBe(
    `Only B has scopes (step, load, save and 2 more)${rest}`,
  );
  expect(text("A and B", ["train"], ["fit"])).toBe(
    `Scopes of A (train) and of B (fit) have no name in common${rest}`,
  );
  // Scopes that are too short to be listed are scopes all the same.
  expect(text("A and B", ["train"], [])).toBe(
    `Scopes of A (train) and of B have no name in common${rest}`,
  );
  expect(text("A and B", [], [])).toBe(`Scopes of A and of B have no name in common${rest}`);
  expect(text("A", [], [])).toBe(`Only A has scopes${rest}`);
});

it("reads ids from the address", () => {
  expect(idsOf("a,b,,a")).toEqual(["a", "b"]);
  expect(idsOf(null)).toEqual([]);
});
