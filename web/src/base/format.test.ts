// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import {
  bytes,
  columnTime,
  duration,
  exactTime,
  moment,
  percent,
  plural,
  shownName,
  UNKNOWN,
  wallDate,
  withMicro,
} from "./format";

describe("format", () => {
  it("chooses units that fit", () => {
    expect(duration(0)).toBe("0 ns");
    expect(duration(999)).toBe("999 ns");
    expect(duration(15_210)).toBe("15.21 µs");
    expect(duration(38_200_000)).toBe("38.2 ms");
    expect(duration(61e9)).toBe("61 s");
    expect(duration(745e9)).toBe("12.42 min");
    expect(bytes(1536)).toBe("1.5 KiB");
    expect(plural(1, "kernel")).toBe("1 kernel");
    expect(plural(5265, "kernel")).toBe("5,265 kernels");
  });
  it("shows names on one line, whatever they are", () => {
    expect(shownName("  ")).toBe("(no name)");
    expect(shownName("gemm<float>  [4]")).toBe("gemm<float>  [4]");
    expect(shownName("of\r\n  two lines")).toBe("of two lines");
  });
  it("keeps decimal points of a column below one another", () => {
    const text = (ns: number) => Object.values(columnTime(ns)).join(" ");
    expect([10_900, 1_060_000, 8_000, 999, 138_712].map(text)).toEqual([
      "10.90 µs",
      "1.06 ms",
      "8.00 µs",
      "999 ns",
      "138.71 µs",
    ]);
  });
  it("keeps every nanosecond where asked", () => {
    expect(exactTime(104_512_386)).toBe("104.512 386 ms");
    expect(exactTime(1_000_000_001)).toBe("1.000 000 001 s");
    expect(exactTime(12)).toBe("12 ns");
    expect(exactTime(-1_500)).toBe("−1.500 µs");
    expect(exactTime(599_999_999_999)).toBe("599.999 999 999 s");
    expect(exactTime(600e9)).toBe("0:10:00.000 000 000");
    expect([38_200_000, 3723.9e9].map(moment)).toEqual(["38.2 ms", "1:02:03"]);
    expect(exactTime(3600_999_999_999.7)).toBe("1:00:01.000 000 000");
    expect(exactTime(-(3723e9 + 104_512_386))).toBe("−1:02:03.104 512 386");
  });
  it("never shows what is unknown as zero", () => {
    expect(duration(null)).toBe(UNKNOWN);
    expect(bytes(undefined)).toBe(UNKNOWN);
    expect(percent(null)).toBe(UNKNOWN);
    expect(percent(0.0001)).toBe("<0.1%");
    expect(percent(0)).toBe("0%");
    expect(percent(0.09)).toBe("9.0%");
    expect(percent(-0.125)).toBe("-12.5%");
    expect(percent(0.9999)).toBe("100%");
  });
  it("reads absolute times without losing their size", () => {
    expect(wallDate("1763246944846000000")?.toISOString()).toBe("2025-11-15T22:49:04.846Z");
  });
});

it("writes microseconds of reports as those of the page", () => {
  expect(withMicro("took 10.39 us of 1,207 us, 125.1us in all; status")).toBe(
    "took 10.39 µs of 1,207 µs, 125.1 µs in all; status",
  );
  expect(withMicro("idle × 2: 14.68ms (5% of 1.2s) by kernel_2s<3>, 12ns")).toBe(
    "idle × 2: 14.68 ms (5% of 1.2 s) by kernel_2s<3>, 12 ns",
  );
});
