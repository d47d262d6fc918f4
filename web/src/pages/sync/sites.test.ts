// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Insight, WaitLine } from "../../api/types";
import { headline, launchedAt, siteAt, sitesOf, sourceAround } from "./sites";

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
    gain_of: "session",
    estimate: "",
    confidence: "high",
    evidence: [{ text: "", file: "/a/train.py", line, start_ns: 10 * line, end_ns: 20 * line }],
  };
}
const WAIT = { start_ns: 0, duration_ns: 1, before: null };
function waitLine(label: string, line: number, count: number, blocked_ns: number): WaitLine {
  return {
    label,
    file: "/a/train.py",
    line,
    call: "StreamSynchronize",
    holds_stream: false,
    count,
    blocked_ns,
    typical: WAIT,
    longest: WAIT,
    launched: {
      kernels: [
        { kernel: 1, count: 60, gpu_ns: 500 },
        { kernel: 0, count: 15, gpu_ns: 200 },
      ],
      others: { kernels: 0, count: 0, gpu_ns: 0 },
      graphs: 0,
    },
  };
}
const LINES = [
  waitLine("train.py:9 in main()", 9, 1, 500),
  waitLine("train.py:4 in step(int)", 4, 30, 300),
  waitLine("train.py:7", 7, 2, 900),
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
  it("say where they are in the program", () => {
    expect(sites[0]?.place).toBe("train.py:4");
    expect(sites[0]?.inside).toBe("step(int)");
    expect(sites[2]?.inside).toBe("");
    expect(headline(sites[0]!)).toContain("loop");
    expect(headline(sites[1]!)).toContain("once");
  });
  it("are two where a line holds up both the host and a stream", () => {
    const [host, stream] = sitesOf(
      [LINES[1]!, { ...LINES[1]!, holds_stream: true, blocked_ns: 0 }],
      [insight("in_loop_sync", "HIGH", 4)],
    );
    expect(host?.key).toBe("/a/train.py:4");
    expect(stream?.key).not.toBe(host?.key);
    expect(stream?.insights).toEqual([]);
    expect(headline(stream!)).toContain("stream");
    expect(siteAt([host!, stream!], "/a/train.py:4")).toBe(host);
    expect(siteAt([host!, stream!], "/a/train.py:4 stream")).toBe(stream);
    expect(siteAt([stream!], "/a/train.py:4")).toBe(stream);
    expect(siteAt([host!, stream!], "/a/train.py:5")).toBeUndefined();
    expect(siteAt([host!], null)).toBeUndefined();
  });
  it("have their kernels by name, with how many are launched for each wait", () => {
    const kernels = [
      { label: "add", full_name: "add(int)" },
      { label: "gemm", full_name: "gemm(float)" },
    ];
    expect(launchedAt(sites[0]!, kernels)).toEqual([
      { label: "gemm", name: "gemm(float)", count: 60, perWait: 2, gpu_ns: 500 },
      { label: "add", name: "add(int)", count: 15, perWait: 0.5, gpu_ns: 200 },
    ]);
    expect(launchedAt({ ...sites[0]!, launched: { unknown: "no calls" } }, kernels)).toEqual([]);
  });
});

describe("the text around a line", () => {
  const sources = [
    {
      type: "source" as const,
      language: "cuda",
      path: "/a/x.cu",
      first_line: 10,
      lines: ["a", "b", "c", "d", "e"],
    },
  ];
  it("is cut at the ends of what is there", () => {
    expect(sourceAround(sources, "/a/x.cu", 11, 2)?.lines.map(({ line }) => line)).toEqual([
      10, 11, 12, 13,
    ]);
    expect(sourceAround(sources, "/a/x.cu", 14, 1)).toEqual({
      path: "/a/x.cu",
      isNewer: false,
      lines: [
        { line: 13, text: "d" },
        { line: 14, text: "e" },
      ],
    });
  });
  it("is none of another file, or of a line beyond it", () => {
    expect(sourceAround(sources, "/b/x.cu", 11)).toBeNull();
    expect(sourceAround(sources, "/a/x.cu", 15)).toBeNull();
    expect(sourceAround(sources, "/a/x.cu", 9)).toBeNull();
  });
});
