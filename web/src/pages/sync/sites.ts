// SPDX-License-Identifier: Apache-2.0
// Places in the program that wait for the GPU: how much they block, and what the rules say of them.
import { isUnknown } from "../../base/format";
import type { Insight, SourceText, WaitLine, Waits } from "../../api/types";

export interface Site extends WaitLine {
  // What the address calls it.
  key: string;
  // "mistakes.cu:129"
  place: string;
  // "train(float*)"; empty: the stack does not tell.
  inside: string;
  isInLoop: boolean;
  severity: Insight["severity"];
  // The rule with the most to say first.
  insights: Insight[];
}

const RANK = { HIGH: 2, MEDIUM: 1, LOW: 0 };

function isAt({ evidence }: Insight, file: string, line: number): boolean {
  return evidence.some((one) => one.file === file && one.line === line);
}

function keyOf({ file, line, label }: WaitLine): string {
  return file === "" ? label : `${file}:${line}`;
}

export function sitesOf(lines: WaitLine[], insights: Insight[]): Site[] {
  const ofWaits = insights.filter(({ category }) => category === "SYNCHRONIZATION");
  const sites = lines.map((line): Site => {
    // What the rules say of a line is of the host that waits there.
    const found = (line.holds_stream ? [] : ofWaits)
      .filter((insight) => isAt(insight, line.file, line.line))
      .sort((a, b) => Number(b.rule === "in_loop_sync") - Number(a.rule === "in_loop_sync"));
    const at = line.label.indexOf(" in ");
    return {
      ...line,
      // A line that holds up both the host and streams is there twice.
      key: line.holds_stream ? `${keyOf(line)} stream` : keyOf(line),
      place: at < 0 ? line.label : line.label.slice(0, at),
      inside: at < 0 ? "" : line.label.slice(at + 4),
      isInLoop: found.some(({ rule }) => rule === "in_loop_sync"),
      severity: found.reduce<Insight["severity"]>(
        (most, { severity }) => (RANK[severity] > RANK[most] ? severity : most),
        "LOW",
      ),
      insights: found,
    };
  });
  return sites.sort(
    (a, b) =>
      RANK[b.severity] - RANK[a.severity] ||
      Number(b.isInLoop) - Number(a.isInLoop) ||
      b.blocked_ns - a.blocked_ns,
  );
}

// The one that an address names; of links that do not tell them apart, the host's comes first.
export function siteAt(sites: Site[], key: string | null): Site | undefined {
  return sites.find((site) => site.key === key) ?? sites.find((site) => keyOf(site) === key);
}

// What a person would say of it.
export function headline({ isInLoop, count, holds_stream }: Site): string {
  if (holds_stream) return "A stream waits for another, and the host goes on";
  if (isInLoop) return "The host waits for the GPU in a loop";
  return count === 1 ? "The host waits for the GPU once" : "The host waits for the GPU";
}

export interface Launched {
  label: string;
  name: string;
  count: number;
  perWait: number;
  gpu_ns: number;
}

// The kernels of a line by name.
export function launchedAt(site: Site, kernels: Waits["kernels"]): Launched[] {
  if (isUnknown(site.launched)) return [];
  return site.launched.kernels.flatMap(({ kernel, count, gpu_ns }) => {
    const known = kernels[kernel];
    if (known === undefined) return [];
    return [
      { label: known.label, name: known.full_name, count, perWait: count / site.count, gpu_ns },
    ];
  });
}

export interface SourceView {
  path: string;
  isNewer: boolean;
  lines: { line: number; text: string }[];
}

// The lines around a place; null: no text of that file reaches so far.
export function sourceAround(
  sources: SourceText[],
  file: string,
  line: number,
  around = 5,
): SourceView | null {
  for (const { path, first_line, lines, newer = false } of sources) {
    if (path !== file || line < first_line || line >= first_line + lines.length) continue;
    const from = Math.max(0, line - first_line - around);
    return {
      path,
      isNewer: newer,
      lines: lines
        .slice(from, line - first_line + around + 1)
        .map((text, i) => ({ line: first_line + from + i, text })),
    };
  }
  return null;
}
