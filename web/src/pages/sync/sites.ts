// SPDX-License-Identifier: Apache-2.0
// Places in the program that wait for the GPU: how much they block, and what the rules say of them.
import type { Insight } from "../../api/types";

export type { Insight };

export interface WaitLine {
  label: string;
  file: string;
  line: number;
  count: number;
  blocked_ns: number;
}

export interface Waits {
  by_call: {
    call: string;
    blocked_ns: {
      count: number;
      total: number;
      mean?: number;
      median?: number;
      p99?: number;
      max?: number;
    };
  }[];
  by_line: WaitLine[];
}

export interface Site extends WaitLine {
  key: string;
  // "mistakes.cu:129"
  place: string;
  // "train(float*)"; empty: the stack does not tell.
  inside: string;
  isInLoop: boolean;
  severity: Insight["severity"];
  // The rule with the most to say first.
  insights: Insight[];
  // From the start of its first wait to the end of its last one.
  span: [number, number] | null;
}

const RANK = { HIGH: 2, MEDIUM: 1, LOW: 0 };

function isAt({ evidence }: Insight, file: string, line: number): boolean {
  return evidence.some((one) => one.file === file && one.line === line);
}

function spanOf(insights: Insight[], { file, line }: WaitLine): [number, number] | null {
  for (const { evidence } of insights) {
    for (const one of evidence) {
      if (one.file !== file || one.line !== line) continue;
      if (one.start_ns !== undefined && one.end_ns !== undefined) return [one.start_ns, one.end_ns];
    }
  }
  return null;
}

export function sitesOf(lines: WaitLine[], insights: Insight[]): Site[] {
  const ofWaits = insights.filter(({ category }) => category === "SYNCHRONIZATION");
  const sites = lines.map((line): Site => {
    const found = ofWaits
      .filter((insight) => isAt(insight, line.file, line.line))
      .sort((a, b) => Number(b.rule === "in_loop_sync") - Number(a.rule === "in_loop_sync"));
    const at = line.label.indexOf(" in ");
    return {
      ...line,
      key: `${line.file}:${line.line}`,
      place: at < 0 ? line.label : line.label.slice(0, at),
      inside: at < 0 ? "" : line.label.slice(at + 4),
      isInLoop: found.some(({ rule }) => rule === "in_loop_sync"),
      severity: found.reduce<Insight["severity"]>(
        (most, { severity }) => (RANK[severity] > RANK[most] ? severity : most),
        "LOW",
      ),
      insights: found,
      span: spanOf(found, line),
    };
  });
  return sites.sort(
    (a, b) =>
      RANK[b.severity] - RANK[a.severity] ||
      Number(b.isInLoop) - Number(a.isInLoop) ||
      b.blocked_ns - a.blocked_ns,
  );
}

// What a person would say of it.
export function headline({ isInLoop, count }: Site): string {
  if (isInLoop) return "The host waits for the GPU in a loop";
  return count === 1 ? "The host waits for the GPU once" : "The host waits for the GPU";
}

export interface SourceText {
  path: string;
  first_line: number;
  lines: string[];
}

// The lines around a place, if a source of that file reaches so far.
export function sourceAround(
  sources: SourceText[],
  file: string,
  line: number,
  around = 4,
): { line: number; text: string }[] {
  for (const { path, first_line, lines } of sources) {
    if (path !== file || line < first_line || line >= first_line + lines.length) continue;
    const from = Math.max(0, line - first_line - around);
    return lines
      .slice(from, line - first_line + around + 1)
      .map((text, i) => ({ line: first_line + from + i, text }));
  }
  return [];
}
