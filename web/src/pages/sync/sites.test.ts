// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { headline, type Insight, sitesOf, sourceAround } from "./sites";

function insight(rule: string, severity: Insight["severity"], line: number): Insight {
  return {
    rule,
    category: "SYNCHRONIZATION",
    severity,
    title: rule,
    detail: "",
    advice: "",
    gain_ns: null,
    gain_share: 0,
    estimate: "",
    confidence: "high",
    evidence: [{ text: "", file: "/a/train.py", line, start_ns: 10 * line, end_ns: 20 * line }],
  };
}
const LINES = [
  { label: "train.py:9 in main()", file: "/a/train.py", line: 9, count: 1, blocked_ns: 500 },
  { label: "train.py:4 in step(int)", file: "/a/train.py", line: 4, count: 30, blocked_ns: 300 },
  { label: "train.py:7", file: "/a/train.py", line: 7, count: 2, blocked_ns: 900 },
];

describe("places that wait", () => {
  const sites = sitesOf(LINES, [
    insight("sync_attribution", "MEDIUM", 9),
    insight("sync_attribution", "LOW", 4),
    insight("in_loop_sync", "MEDIUM", 4),
    { ...insight("idle_gaps", "HIGH", 7), category: "LAUNCH" },
  ]);
  it("are in the order of what to look at first", () => {
    expect(sites.map(({ line }) => line)).toEqual([4, 9, 7]);
  });
  it("have the worst severity, the loop's advice first, and other rules left out", () => {
    expect(sites[0]?.severity).toBe("MEDIUM");
    expect(sites[0]?.insights.map(({ rule }) => rule)).toEqual([
      "in_loop_sync",
      "sync_attribution",
    ]);
    expect(sites[2]?.severity).toBe("LOW");
    expect(sites[2]?.insights).toEqual([]);
  });
  it("say where they are in the program and in time", () => {
    expect(sites[0]?.place).toBe("train.py:4");
    expect(sites[0]?.inside).toBe("step(int)");
    expect(sites[0]?.span).toEqual([40, 80]);
    expect(sites[2]?.inside).toBe("");
    expect(sites[2]?.span).toBeNull();
    expect(headline(sites[0]!)).toContain("loop");
    expect(headline(sites[1]!)).toContain("once");
  });
});

describe("the text around a line", () => {
  const sources = [{ path: "/a/x.cu", first_line: 10, lines: ["a", "b", "c", "d", "e"] }];
  it("is cut at the ends of what is there", () => {
    expect(sourceAround(sources, "/a/x.cu", 11, 2).map(({ line }) => line)).toEqual([
      10, 11, 12, 13,
    ]);
    expect(sourceAround(sources, "/a/x.cu", 14, 1)).toEqual([
      { line: 13, text: "d" },
      { line: 14, text: "e" },
    ]);
  });
  it("is empty for another file or a line beyond it", () => {
    expect(sourceAround(sources, "/b/x.cu", 11)).toEqual([]);
    expect(sourceAround(sources, "/a/x.cu", 15)).toEqual([]);
    expect(sourceAround(sources, "/a/x.cu", 9)).toEqual([]);
  });
});
