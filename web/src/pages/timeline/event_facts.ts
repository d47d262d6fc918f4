// SPDX-License-Identifier: Apache-2.0
// What the log has of an event, in the words and units of people. Pure.
import { bytes, bytesPerSecond, count, duration, exactTime, percent } from "../../base/format";
import { type Around, type EventDetail, type EventRef, kindOf } from "../../timeline";
import { lengthWord } from "../../timeline/tracks";
import { limitWords } from "../kernels/occupancy";

export interface Fact {
  label: string;
  value: string;
  // What is copied, where that differs: numbers without units.
  copy?: string;
  note?: string;
}

type Values = EventDetail["values"];

const MEMORY = [
  "",
  "pageable",
  "pinned",
  "device",
  "array",
  "managed",
  "device static",
  "managed static",
];
const OPERATIONS = ["", "allocate", "release"];

function numberOf(values: Values, name: string): number | null {
  const value = values[name];
  return typeof value === "number" ? value : null;
}

// "64×2" of [64, 2, 1].
export function extent(value: unknown): string | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const sizes = value.map(Number);
  while (sizes.length > 1 && sizes.at(-1) === 1) sizes.pop();
  return sizes.join("×");
}

function launchFacts(values: Values): Fact[] {
  const facts: Fact[] = [];
  const grid = extent(values["grid"]);
  const block = extent(values["block"]);
  if (grid !== null && block !== null && Array.isArray(values["block"])) {
    facts.push({
      label: "launch",
      value: `${grid} ${grid === "1" ? "block" : "blocks"} of ${block} threads`,
    });
  }
  const registers = numberOf(values, "registers");
  if (registers !== null)
    facts.push({ label: "registers", value: `${count(registers)} per thread` });
  const fixed = numberOf(values, "shared_static");
  const dynamic = numberOf(values, "shared_dynamic");
  if (fixed !== null || dynamic !== null) {
    facts.push({
      label: "shared",
      value: bytes((fixed ?? 0) + (dynamic ?? 0)),
      ...(dynamic ? { note: `${bytes(dynamic)} of it dynamic` } : {}),
    });
  }
  const occupancy = numberOf(values, "occupancy");
  // Logs of former versions have another name for it.
  const limit = values["occupancy_bound"] ?? values["occupancy_limit"];
  if (occupancy !== null) {
    facts.push({
      label: "occupancy",
      value: percent(occupancy),
      ...(typeof limit === "string" ? { note: `limited by ${limitWords(limit)}` } : {}),
    });
  }
  return facts;
}

function callFacts(values: Values, isCall: boolean): Fact[] {
  const call = numberOf(values, "api_start_ns");
  const took = numberOf(values, "api_duration_ns");
  const start = numberOf(values, "start_ns");
  const length = numberOf(values, "duration_ns");
  const facts: Fact[] = [];
  if (isCall && start !== null && length !== null) {
    facts.push({ label: "work began", value: exactTime(start), copy: String(start) });
    facts.push({ label: "work took", value: duration(length), copy: String(length) });
  }
  if (!isCall && call !== null) {
    facts.push({ label: "called at", value: exactTime(call), copy: String(call) });
  }
  if (!isCall && took !== null) {
    facts.push({ label: "call took", value: duration(took), copy: String(took) });
  }
  if (call !== null && start !== null && start >= call && length !== null) {
    const wait = start - call;
    facts.push({
      label: "waited",
      value: duration(wait),
      copy: String(wait),
      note: "from call to start",
    });
  }
  return facts;
}

function copyFacts(values: Values): Fact[] {
  const size = numberOf(values, "bytes");
  const length = numberOf(values, "duration_ns");
  const facts: Fact[] = [];
  if (size !== null) {
    facts.push({ label: "bytes", value: bytes(size), copy: String(size) });
    if (length !== null && length > 0 && size > 0) {
      facts.push({ label: "rate", value: bytesPerSecond((size / length) * 1e9) });
    }
  }
  const from = MEMORY[numberOf(values, "source_memory") ?? 0];
  const to = MEMORY[numberOf(values, "target_memory") ?? 0];
  if (from && to) facts.push({ label: "memory", value: `${from} to ${to}` });
  const memory = MEMORY[numberOf(values, "memory") ?? 0];
  if (memory) facts.push({ label: "memory", value: memory });
  const operation = OPERATIONS[numberOf(values, "operation") ?? 0];
  if (operation) facts.push({ label: "operation", value: operation });
  return facts;
}

function aroundFacts(detail: EventDetail): Fact[] {
  const { scopes, markers, values, site } = detail;
  const facts: Fact[] = [];
  if (scopes.length > 0) facts.push({ label: "scope", value: scopes.join(" › ") });
  const isModule = ({ domain }: Around) => domain.endsWith(".module");
  const isOperator = ({ domain }: Around) => domain.endsWith(".op");
  const operator = markers.findLast(isOperator);
  const module = markers.findLast(isModule);
  const marker = markers.findLast((one) => !isModule(one) && !isOperator(one));
  if (operator) facts.push({ label: "operator", value: operator.label });
  if (module) facts.push({ label: "module", value: module.label });
  if (marker) facts.push({ label: "marker", value: marker.label });
  if (typeof values["domain"] === "string")
    facts.push({ label: "domain", value: values["domain"] });
  if (site) {
    facts.push({
      label: "line",
      value: site.text,
      copy: `${site.file}:${site.line}`,
      ...(site.source === null ? {} : { note: site.source.trim() }),
    });
  }
  return facts;
}

const PLACES: readonly [string, string][] = [
  ["device", "GPU"],
  ["stream", "stream"],
  ["thread", "thread"],
  ["correlation", "correlation"],
];

export function factsOf(event: EventRef, detail: EventDetail | null): Fact[] {
  const length = event.end - event.start;
  const kind = kindOf(event.track);
  const facts: Fact[] = [
    {
      label: lengthWord(kind),
      value: event.event === null ? `${duration(length)} so far` : duration(length),
      copy: String(length),
    },
    { label: "start", value: exactTime(event.start), copy: String(event.start) },
  ];
  if (!detail) return facts;
  const { values } = detail;
  facts.push(...aroundFacts(detail));
  if (kind === "kernels" || kind === "kernel_calls") facts.push(...launchFacts(values));
  facts.push(...copyFacts(values));
  if (kind === "waits") {
    // The call is the wait.
    if (!detail.site) facts.push({ label: "line", value: "not recorded" });
  } else facts.push(...callFacts(values, kind.endsWith("_calls")));
  for (const [name, label] of PLACES) {
    const value = numberOf(values, name);
    if (value !== null && value >= 0) facts.push({ label, value: String(value) });
  }
  return facts;
}

// Every field of the log's row, as it has them.
export function rowOf(detail: EventDetail): [string, string][] {
  return Object.entries(detail.values)
    .filter(([name]) => name !== "stack")
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
}
