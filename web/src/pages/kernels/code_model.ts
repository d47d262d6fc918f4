// SPDX-License-Identifier: Apache-2.0
// Source lines and instructions beside each other: which belongs to which, and how hot each is.
import type { CodeImage, KernelCode, StallCounts } from "../../api/types";
import { type Language, languageOf } from "../../base/tokenizer";
import { type StallPart, stackOf } from "./stalls";

export interface HeatRow {
  // A line's number, or an instruction's offset.
  at: number;
  text: string | null;
  samples: number;
  stack: StallPart[];
  // Rows of the other pane that belong to it, by index.
  others: number[];
  hint?: string;
}

export interface Pane {
  id: string;
  title: string;
  language: Language;
  rows: HeatRow[];
  // Of the hottest row.
  most: number;
  isNewer: boolean;
}

const NO_FILE = "(no file)";

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function addStalls(into: StallCounts, more: StallCounts): void {
  for (const [reason, { samples, not_issued }] of Object.entries(more)) {
    const sum = into[reason] ?? { samples: 0, not_issued: 0 };
    into[reason] = { samples: sum.samples + samples, not_issued: sum.not_issued + not_issued };
  }
}

function pane(
  id: string,
  title: string,
  language: Language,
  rows: HeatRow[],
  isNewer = false,
): Pane {
  return {
    id,
    title,
    language,
    rows,
    isNewer,
    most: Math.max(0, ...hottest(rows, 1).map((i) => rows[i]!.samples)),
  };
}

export function instructionPane(image: CodeImage, order: string[]): Pane {
  const rows = image.instructions.map(
    ({ offset, text, samples, stalls, live_registers, places }): HeatRow => ({
      at: offset,
      text,
      samples,
      stack: stackOf(stalls, order),
      others: [],
      hint: [
        live_registers === null ? "" : `${live_registers} live registers`,
        ...places.map(({ file, line }) => `${baseName(file)}:${line}`),
      ]
        .filter(Boolean)
        .join(" · "),
    }),
  );
  return pane("sass", "SASS", "sass", rows);
}

const LANGUAGES: Record<string, Language> = {
  cuda: "cuda",
  python: "python",
  ptx: "ptx",
  "c++": "cuda",
};

// One pane for each file, that with the most samples first.
export function sourcePanes(code: KernelCode, image: CodeImage, order: string[]): Pane[] {
  const indexOf = new Map(image.instructions.map(({ offset }, i) => [offset, i]));
  const files = new Map<string, { samples: number; rows: Map<number, HeatRow> }>();
  const fileOf = (path: string) => {
    const file = files.get(path) ?? { samples: 0, rows: new Map<number, HeatRow>() };
    files.set(path, file);
    return file;
  };
  for (const line of image.lines) {
    if (line.line === null) continue;
    const file = fileOf(line.file ?? NO_FILE);
    file.samples += line.samples;
    file.rows.set(line.line, {
      at: line.line,
      text: line.source,
      samples: line.samples,
      stack: stackOf(line.stalls, order),
      others: line.instructions.flatMap((offset) => indexOf.get(offset) ?? []),
    });
  }
  for (const source of code.sources) {
    if (!files.has(source.path)) continue;
    const { rows } = fileOf(source.path);
    source.lines.forEach((text, i) => {
      const at = source.first_line + i;
      const known = rows.get(at);
      if (known) known.text ??= text;
      else rows.set(at, { at, text, samples: 0, stack: [], others: [] });
    });
  }
  return [...files]
    .sort(([, a], [, b]) => b.samples - a.samples)
    .map(([path, { rows }]) => {
      const text = code.sources.find((source) => source.path === path);
      const language = LANGUAGES[text?.language ?? ""] ?? languageOf(path);
      const sorted = [...rows.values()].sort((a, b) => a.at - b.at);
      return pane(path, baseName(path), language, sorted, text?.newer ?? false);
    });
}

// The part of the image's PTX that the kernel's instructions came from.
export function ptxPane(image: CodeImage, order: string[]): Pane | null {
  const lines = image.ptx ?? [];
  const used = image.instructions.flatMap(({ ptx_line }) => ptx_line ?? []);
  if (lines.length === 0 || used.length === 0) return null;
  const first = used.reduce((a, b) => Math.min(a, b));
  const last = used.reduce((a, b) => Math.max(a, b));
  const counts = new Map<number, { samples: number; stalls: StallCounts; others: number[] }>();
  image.instructions.forEach(({ ptx_line, samples, stalls }, i) => {
    if (ptx_line === null) return;
    const sum = counts.get(ptx_line) ?? { samples: 0, stalls: {}, others: [] };
    counts.set(ptx_line, sum);
    sum.samples += samples;
    sum.others.push(i);
    addStalls(sum.stalls, stalls);
  });
  const rows = lines.slice(first - 1, last).map((text, i): HeatRow => {
    const of = counts.get(first + i);
    return {
      at: first + i,
      text,
      samples: of?.samples ?? 0,
      stack: stackOf(of?.stalls ?? {}, order),
      others: of?.others ?? [],
    };
  });
  return pane("ptx", "PTX", "ptx", rows);
}

// Without instructions there is no heat: the kernel's own PTX, to read.
export function coldPtxPane(image: CodeImage, functionName: string): Pane | null {
  const lines = image.ptx ?? [];
  const first = lines.findIndex((line) => line.includes(".entry ") && line.includes(functionName));
  if (first < 0) return null;
  const length = lines.slice(first).findIndex((line) => line.startsWith("}"));
  const rows = lines
    .slice(first, length < 0 ? undefined : first + length + 1)
    .map((text, i): HeatRow => ({ at: first + 1 + i, text, samples: 0, stack: [], others: [] }));
  return pane("ptx", "PTX", "ptx", rows);
}

// From each instruction to rows of the pane on the left.
export function linkBack(left: Pane, right: Pane): Pane {
  const others: number[][] = right.rows.map(() => []);
  left.rows.forEach((row, i) => row.others.forEach((at) => others[at]?.push(i)));
  return { ...right, rows: right.rows.map((row, i) => ({ ...row, others: others[i] ?? [] })) };
}

// Rows with samples, most first.
export function hottest(rows: HeatRow[], most = Infinity): number[] {
  const found = rows.flatMap((row, i) => (row.samples > 0 ? [i] : []));
  found.sort((a, b) => rows[b]!.samples - rows[a]!.samples || a - b);
  return found.slice(0, most);
}

// The one that follows in order of heat; from a cold row, the hottest.
export function nextHot(rows: HeatRow[], from: number | null, step: 1 | -1): number | null {
  const order = hottest(rows);
  if (order.length === 0) return null;
  const at = from === null ? -1 : order.indexOf(from);
  if (at < 0) return order[0] ?? null;
  return order[Math.min(Math.max(at + step, 0), order.length - 1)] ?? null;
}

export function findRows(rows: HeatRow[], text: string): number[] {
  const wanted = text.toLowerCase();
  if (wanted === "") return [];
  return rows.flatMap((row, i) => (row.text?.toLowerCase().includes(wanted) ? [i] : []));
}

export function hexOffset(offset: number): string {
  return offset.toString(16).padStart(4, "0");
}
