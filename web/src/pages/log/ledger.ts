// SPDX-License-Identifier: Apache-2.0
// The ledger's numbers as people read them.
import type { Ledger, LogEvent } from "../../api/types";
import { bytes, count, duration } from "../../base/format";

export interface LedgerNumber {
  name: string;
  text: string;
  value: number;
  isLoss: boolean;
}

export interface KindRows {
  kind: string;
  written: number | null;
  read: number;
  dropped: number | null;
}

const LOSS =
  /(missing|dropped|lost|unclosed|unmatched|overflow|refused|forgotten|missed|stuck|impossible|unfinished|unclaimed|deleted)/;
// The same number by an older name.
const ALIASES = new Set(["cupti_overhead_ns"]);

function textOf(name: string, value: number): string {
  if (name.endsWith("_ns")) return duration(value);
  if (name.endsWith("_bytes")) return bytes(value);
  return count(value);
}

const SHORT: Record<string, string> = {
  cpu: "CPU",
  ram: "RAM",
  uuid: "UUID",
  pci: "PCI",
  pcie: "PCIe",
  sm: "SM",
  id: "id",
};

// "pci_bus" is "PCI bus".
function titleOf(name: string): string {
  const words = name.split("_").map((word) => SHORT[word] ?? word);
  return words.join(" ").replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

// "launches_missing" is "launches missing"; units are in the value.
export function numberName(name: string): string {
  return titleOf(name.replace(/_ns$/, "_time"));
}

// Losses that happened first, then the rest in the log's order; what never happened is left out.
export function ledgerNumbers(numbers: Record<string, unknown>): LedgerNumber[] {
  const all = Object.entries(numbers)
    .filter((entry): entry is [string, number] => typeof entry[1] === "number")
    .filter(([name, value]) => value !== 0 && !ALIASES.has(name))
    .map(([name, value]) => ({
      name: numberName(name),
      text: textOf(name, value),
      value,
      isLoss: LOSS.test(name),
    }));
  return [...all].sort((a, b) => Number(b.isLoss && b.value > 0) - Number(a.isLoss && a.value > 0));
}

// Of an object of which the log decides what it has; null: not this.
export function numberIn(of: unknown, name: string): number | null {
  if (typeof of !== "object" || of === null) return null;
  const value = (of as Record<string, unknown>)[name];
  return typeof value === "number" ? value : null;
}

// What the log says was written, beside what could be read of it.
export function kindRows({ rows_read, numbers }: Ledger): KindRows[] {
  const written = numbers?.["rows"];
  const dropped = numbers?.["dropped"];
  const names = new Set([
    ...Object.keys(rows_read),
    ...(typeof written === "object" && written !== null ? Object.keys(written) : []),
  ]);
  return [...names].sort().map((kind) => ({
    kind,
    written: numberIn(written, kind),
    read: rows_read[kind] ?? 0,
    dropped: numbers === null ? null : (numberIn(dropped, kind) ?? 0),
  }));
}

// "GPU has fallen off the bus · device 0 · code 79"
export function eventText(event: LogEvent): string {
  const rest = Object.entries(event)
    .filter(([name]) => !["type", "time", "name", "text"].includes(name))
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${valueText(value)}`);
  return [event.text ?? "", ...rest].filter(Boolean).join(" · ");
}

function valueText(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const UNITS: [RegExp, (value: number) => string][] = [
  [/_bytes$/, bytes],
  [/_mw$/, (value) => `${count(value / 1000)} W`],
  [/_mhz$/, (value) => `${count(value)} MHz`],
  [/_c$/, (value) => `${count(value)} °C`],
  [/_ns$/, duration],
];

// What the log says twice, once by a former name.
const FORMER: Record<string, string> = {
  sm_count: "compute_units",
  max_sm_clock_mhz: "max_compute_clock_mhz",
};

// All that a line says of a GPU or host; the parts of one fact stand together.
export function factsOf(line: Record<string, unknown>): [string, string][] {
  const isSaid = (name: string) => !(FORMER[name] !== undefined && FORMER[name] in line);
  const { compute_major: major, compute_minor: minor, ...rest } = line;
  const isCapability = major !== undefined && minor !== undefined;
  const facts = isCapability ? { ...rest, compute_capability: `${major}.${minor}` } : line;
  return Object.entries(facts)
    .filter(([name]) => isSaid(name))
    .map(([name, value]) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? [titleOf(name), partsText(value as Record<string, unknown>)]
        : factOf(name, value),
    );
}

// "threads 2,048 · shared 228 KiB"
function partsText(parts: Record<string, unknown>): string {
  return Object.entries(parts)
    .map(([name, value]) => {
      const [title, text] = factOf(name, value);
      return `${title.toLowerCase()} ${typeof value === "number" && text === String(value) ? count(value) : text}`;
    })
    .join(" · ");
}

// A fact of a GPU or host by the log's name for it: "power_limit_mw": 700000 is ["Power limit", "700 W"].
export function factOf(name: string, value: unknown): [string, string] {
  const unit = typeof value === "number" ? UNITS.find(([ending]) => ending.test(name)) : undefined;
  const plainName = unit ? name.replace(unit[0], "") : name;
  return [titleOf(plainName), unit ? unit[1](value as number) : valueText(value)];
}
