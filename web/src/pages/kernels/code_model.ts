// SPDX-License-Identifier: Apache-2.0
// Source lines and instructions beside each other: which belongs to which, and how hot each is.
import type { CodeImage, InstructionCounts, KernelCode, StallCounts } from "../../api/types";
import { type Language, languageOf } from "../../base/tokenizer";
import { addCounts, type HeatBy, type Heated, heatOf } from "./heat";
import { stackOf } from "./stalls";

interface CodeRow extends Heated {
  // A line's number, or an instruction's offset.
  at: number;
  text: string | null;
  // Rows of the other pane that belong to it, by index.
  others: number[];
  hint?: string;
}

export interface HeatRow extends CodeRow {
  // By what the reader asks for.
  heat: number;
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
  cold: CodeRow[],
  by: HeatBy,
  isNewer = false,
): Pane {
  const rows = cold.map((row): HeatRow => ({ ...row, heat: heatOf(row, by) }));
  const most = rows.reduce((max, { heat }) => Math.max(max, heat), 0);
  return { id, title, language, rows, isNewer, most };
}

export function instructionPane(image: CodeImage, order: string[], by: HeatBy = "stalls"): Pane {
  const rows = image.instructions.map(
    ({ offset, text, samples, stalls, counts, live_registers, places }): CodeRow => ({
      at: offset,
      text,
      samples,
      stack: stackOf(stalls, order),
      counts,
      others: [],
      hint: [
        live_registers === null ? "" : `${live_registers} live registers`,
        ...places.map(({ file, line }) => `${baseName(file)}:${line}`),
      ]
        .filter(Boolean)
        .join(" · "),
    }),
  );
  return pane("sass", "SASS", "sass", rows, by);
}

const LANGUAGES: Record<string, Language> = {
  cuda: "cuda",
  python: "python",
  ptx: "ptx",
  "c++": "cuda",
};

// One pane for each file, the hottest first.
export function sourcePanes(
  code: KernelCode,
  image: CodeImage,
  order: string[],
  by: HeatBy = "stalls",
): Pane[] {
  const indexOf = new Map(image.instructions.map(({ offset }, i) => [offset, i]));
  const files = new Map<string, Map<number, CodeRow>>();
  const fileOf = (path: string) => {
    const rows = files.get(path) ?? new Map<number, CodeRow>();
    files.set(path, rows);
    return rows;
  };
  for (const line of image.lines) {
    if (line.line === null) continue;
    fileOf(line.file ?? NO_FILE).set(line.line, {
      at: line.line,
      text: line.source,
      samples: line.samples,
      stack: stackOf(line.stalls, order),
      counts: null,
      others: line.instructions.flatMap((offset) => indexOf.get(offset) ?? []),
    });
  }
  for (const { file, line, counts } of image.counted_lines) {
    if (line === null) continue;
    const rows = fileOf(file ?? NO_FILE);
    const known = rows.get(line);
    if (known) known.counts = counts;
    else rows.set(line, { ...coldRow(line, null), counts });
  }
  for (const source of code.sources) {
    const rows = files.get(source.path);
    if (!rows) continue;
    source.lines.forEach((text, i) => {
      const at = source.first_line + i;
      const known = rows.get(at);
      if (known) known.text ??= text;
      else rows.set(at, coldRow(at, text));
    });
  }
  const panes = [...files].map(([path, rows]) => {
    const text = code.sources.find((source) => source.path === path);
    const language = LANGUAGES[text?.language ?? ""] ?? languageOf(path);
    const sorted = [...rows.values()].sort((a, b) => a.at - b.at);
    return pane(path, baseName(path), language, sorted, by, text?.newer ?? false);
  });
  const sum = ({ rows }: Pane) => rows.reduce((all, { heat }) => all + heat, 0);
  return panes.sort((a, b) => sum(b) - sum(a));
}

function coldRow(at: number, text: string | null): CodeRow {
  return { at, text, samples: 0, stack: [], counts: null, others: [] };
}

interface PtxSum {
  samples: number;
  stalls: StallCounts;
  counts: InstructionCounts | null;
  others: number[];
}

// The part of the image's PTX that the kernel's instructions came from.
export function ptxPane(image: CodeImage, order: string[], by: HeatBy = "stalls"): Pane | null {
  const lines = image.ptx ?? [];
  const used = image.instructions.flatMap(({ ptx_line }) => ptx_line ?? []);
  if (lines.length === 0 || used.length === 0) return null;
  const first = used.reduce((a, b) => Math.min(a, b));
  const last = used.reduce((a, b) => Math.max(a, b));
  const sums = new Map<number, PtxSum>();
  image.instructions.forEach(({ ptx_line, samples, stalls, counts }, i) => {
    if (ptx_line === null) return;
    const sum = sums.get(ptx_line) ?? { samples: 0, stalls: {}, counts: null, others: [] };
    sums.set(ptx_line, sum);
    sum.samples += samples;
    sum.counts = addCounts(sum.counts, counts);
    sum.others.push(i);
    addStalls(sum.stalls, stalls);
  });
  const rows = lines.slice(first - 1, last).map((text, i): CodeRow => {
    const of = sums.get(first + i);
    if (!of) return coldRow(first + i, text);
    const { samples, stalls, counts, others } = of;
    return { at: first + i, text, samples, stack: stackOf(stalls, order), counts, others };
  });
  return pane("ptx", "PTX", "ptx", rows, by);
}

// Without instructions there is no heat: the kernel's own PTX, to read.
export function coldPtxPane(image: CodeImage, functionName: string): Pane | null {
  const lines = image.ptx ?? [];
  const first = lines.findIndex((line) => line.includes(".entry ") && line.includes(functionName));
  if (first < 0) return null;
  const length = lines.slice(first).findIndex((line) => line.startsWith("}"));
  const rows = lines
    .slice(first, length < 0 ? undefined : first + length + 1)
    .map((text, i) => coldRow(first + 1 + i, text));
  return pane("ptx", "PTX", "ptx", rows, "stalls");
}

// From each instruction to rows of the pane on the left.
export function linkBack(left: Pane, right: Pane): Pane {
  const others: number[][] = right.rows.map(() => []);
  left.rows.forEach((row, i) => row.others.forEach((at) => others[at]?.push(i)));
  return { ...right, rows: right.rows.map((row, i) => ({ ...row, others: others[i] ?? [] })) };
}

// Rows that are not cold, the hottest first.
export function hottest(rows: HeatRow[]): number[] {
  const found = rows.flatMap(({ heat }, i) => (heat > 0 ? [i] : []));
  return found.sort((a, b) => rows[b]!.heat - rows[a]!.heat || a - b);
}

// A row as an address has it: a line's number, or an instruction's offset as "0x1a0".
export function rowName(side: "left" | "right", at: number): string {
  return side === "right" ? `0x${at.toString(16)}` : String(at);
}

// Where an address leads; null: such a row is not here.
export function rowNamed(
  name: string | null,
  left: Pane | null,
  right: Pane,
): { side: "left" | "right"; row: number } | null {
  if (name === null) return null;
  const side = name.startsWith("0x") ? "right" : "left";
  const rows = (side === "right" ? right : left)?.rows ?? [];
  const row = rows.findIndex(({ at }) => rowName(side, at) === name);
  return row < 0 ? null : { side, row };
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
