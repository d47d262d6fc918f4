// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import type { Ledger } from "../../api/types";
import { eventText, factOf, factsOf, kindRows, ledgerNumbers, numberName } from "./ledger";

it("puts losses that happened first, and leaves out those that did not", () => {
  const numbers = ledgerNumbers({
    launches_seen: 10,
    launches_missing: 0,
    markers_dropped: 3,
    callback_ns: 3_921_873,
    raw_bytes: 2048,
    cupti_overhead_ns: 1,
    by_device: [],
  });
  expect(numbers.map(({ name }) => name)).toEqual([
    "Markers dropped",
    "Launches seen",
    "Callback time",
    "Raw bytes",
  ]);
  expect(numbers.map(({ text }) => text)).toEqual(["3", "10", "3.922 ms", "2 KiB"]);
});

it("shows what was written beside what could be read", () => {
  const ledger: Ledger = {
    verdict: "incomplete",
    meaning: "",
    rows_read: { kernel: 3, clock: 2 },
    numbers: { rows: { kernel: 6, scope: 1 }, dropped: { kernel: 1 } },
    problem_count: 0,
    problems: [],
  };
  expect(kindRows(ledger)).toEqual([
    { kind: "clock", written: null, read: 2, dropped: 0 },
    { kind: "kernel", written: 6, read: 3, dropped: 1 },
    { kind: "scope", written: 1, read: 0, dropped: 0 },
  ]);
  expect(kindRows({ ...ledger, numbers: null })[0]).toEqual({
    kind: "clock",
    written: null,
    read: 2,
    dropped: null,
  });
});

it("writes events and facts in words", () => {
  expect(
    eventText({ type: "event", name: "xid", time: 5, device: 0, code: 79, text: "off the bus" }),
  ).toBe("off the bus · device 0 · code 79");
  expect(factOf("power_limit_mw", 700_000)).toEqual(["Power limit", "700 W"]);
  expect(factOf("uuid", "GPU-1")).toEqual(["UUID", "GPU-1"]);
  expect(numberName("collector_cpu_ns")).toBe("Collector CPU time");
});

it("takes facts with parts apart, and says nothing twice", () => {
  const line = {
    sm_count: 132,
    compute_units: 132,
    max_sm_clock_mhz: 1980,
    multiprocessor: { threads: 2048, shared_bytes: 233_472 },
  };
  expect(factsOf(line)).toEqual([
    ["Compute units", "132"],
    ["Max SM clock", "1,980 MHz"],
    ["Multiprocessor", "threads 2,048 · shared 228 KiB"],
  ]);
});

it("writes a compute capability as people do", () => {
  expect(factsOf({ compute_major: 9, compute_minor: 0, sm_count: 132 })).toContainEqual([
    "Compute capability",
    "9.0",
  ]);
  expect(factsOf({ compute_major: 9 })).toEqual([["Compute major", "9"]]);
});
