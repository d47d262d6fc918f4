// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { HealthMetric } from "../../api/types";
import { bitsOf, formatOf, isAlarming, limitsOf, wordsOf } from "../../base/metrics";
import { errorsOf, GPU_CHARTS, legendOf, mainLimit, otherCharts, readingsOf } from "./readings";

function reading(metric: string, device: number | null = null): HealthMetric {
  const values = { count: 1, min: 0, max: 0, mean: 0 };
  const rest = { id: metric, metric, index: 0, values, last: 0 };
  return device === null
    ? { ...rest, kind: "host_metric", device }
    : { ...rest, kind: "device_metric", device };
}

describe("readings as text", () => {
  it("have the unit that their name ends with", () => {
    expect(formatOf("power_mw")(412_300)).toBe("412 W");
    expect(formatOf("sm_clock_mhz")(1980)).toBe("1,980 MHz");
    expect(formatOf("memory_temperature_c")(41)).toBe("41 °C");
    expect(formatOf("pcie_rx_bytes_per_s")(29_749_000)).toBe("29.7 MB/s");
    expect(formatOf("memory_used_bytes")(2 ** 30)).toBe("1 GiB");
    expect(formatOf("cpu_util_permille")(125)).toBe("12.5%");
    expect(formatOf("load_1m_milli")(1500)).toBe("1.5");
    expect(formatOf("energy_mj")(140_316)).toBe("140.3 J");
    expect(formatOf("performance_state")(0)).toBe("P0");
    expect(formatOf("metric_a")(3)).toBe("3");
  });
  it("have words for names, also for those nobody knows yet", () => {
    expect(wordsOf("sm_clock_mhz")).toBe("compute clock");
    expect(wordsOf("ecc_corrected_volatile_count")).toBe("ECC corrected volatile");
    expect(wordsOf("coolant_flow")).toBe("coolant flow");
  });
  it("name the reasons for lower clocks", () => {
    expect(limitsOf(4 + 64)).toEqual(["software power cap", "hardware thermal slowdown"]);
    expect(formatOf("throttle_reasons_bits")(0)).toBe("none");
    expect(bitsOf(2 ** 32 + 1)).toEqual([0, 32]);
    expect([0, 2, 6].map(isAlarming)).toEqual([false, true, true]);
  });
});

describe("what holds clocks back", () => {
  it("is the alarming reason of most samples", () => {
    expect(mainLimit([50, 0, 12, 0, 0, 13])).toEqual({ bit: 5, samples: 13 });
    expect(mainLimit([50, 0, 0])).toBeNull();
    expect(mainLimit([])).toBeNull();
  });
});

describe("charts", () => {
  const power = GPU_CHARTS[0]!;
  it("have all metrics of one GPU, and one metric of many", () => {
    const of = (device: number) => [
      reading("power_mw", device),
      reading("power_instant_mw", device),
    ];
    expect(readingsOf(power, of(0), 1)).toHaveLength(2);
    const many = [0, 1, 2, 3].flatMap(of);
    expect(readingsOf(power, many, 4).map(({ metric }) => metric)).toEqual(
      Array(4).fill("power_mw"),
    );
  });
  it("have short labels beside their title", () => {
    expect(legendOf(GPU_CHARTS[1]!, "sm_clock_mhz")).toBe("compute");
    expect(legendOf({ title: "x", metrics: ["fan_speed_pct"] }, "fan_speed_pct")).toBe("fan speed");
  });
  it("find metrics by their former names", () => {
    expect(readingsOf(GPU_CHARTS[1]!, [reading("sm_clock_mhz", 0)], 1)).toHaveLength(1);
  });
  it("are made for metrics that nobody foresaw, but not for constants and counters", () => {
    const all = [reading("metric_a", 0), reading("power_mw", 0), reading("ram_total_bytes")];
    expect(otherCharts([...all, reading("pcie_replay_count", 0)])).toEqual([
      { title: "metric a", metrics: ["metric_a"] },
    ]);
  });
  it("leave errors to their own list", () => {
    const all = [reading("ecc_corrected_volatile_count", 0), reading("nvlink_crc_error_count", 0)];
    expect(errorsOf([...all, reading("power_mw", 0)])).toEqual(all);
  });
});
