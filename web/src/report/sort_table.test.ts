// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { compareCells, valueOf } from "./sort_table";

it("reads what cells say", () => {
  expect(valueOf("1,024")).toBe(1024);
  expect(valueOf(" 12.5 ms")).toBeCloseTo(0.0125);
  expect(valueOf("1.5 GiB")).toBe(1.5 * 2 ** 30);
  expect(valueOf("-3%")).toBe(-3);
  expect(valueOf("unknown")).toBe("unknown");
});

it("orders cells by what they mean", () => {
  const times = ["2.000 ms", "900 us", "1.200 s", "15 ns"];
  expect(times.sort(compareCells)).toEqual(["15 ns", "900 us", "2.000 ms", "1.200 s"]);
  expect(["rank 10", "rank 9"].sort(compareCells)).toEqual(["rank 9", "rank 10"]);
});
