// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { contrast, INK, makePalette, parseColor } from "./palette";
import { isMain, mainRank, metricLabel, metricValue, startsAtZero } from "./units";

it("says metrics in words and units", () => {
  expect(metricLabel("power_mw", 0, "device_metric")).toBe("power, average");
  expect(metricLabel("sm_clock_mhz", 0, "device_metric")).toBe("compute clock");
  expect(metricLabel("cpu_core_util_permille", 3, "device_metric")).toBe("CPU core use 3");
  expect(metricLabel("loss_bytes", 0, "counter")).toBe("loss_bytes");
  expect(metricValue("power_mw", 370_069, "device_metric")).toBe("370 W");
  expect(metricValue("cpu_util_permille", 65, "host_metric")).toBe("6.5%");
  expect(metricValue("memory_used_bytes", 2 ** 30, "device_metric")).toBe("1 GiB");
  const bytes = "dram__bytes_read.sum.per_second";
  expect(metricLabel(bytes, 0, "pm_sample")).toBe(bytes);
  expect(metricValue(bytes, 2.5e12, "pm_sample")).toBe("2.5 TB/s");
  expect(metricValue("dram__bytes.sum", 2 ** 30, "pm_sample")).toBe("1 GiB");
  const share = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
  expect(metricValue(share, 87.25, "pm_sample")).toBe("87.3%");
  expect(startsAtZero(share)).toBe(true);
  expect(metricValue("sm__warps_active.avg", 12.3456, "pm_sample")).toBe("12.35");
  expect(metricValue("loss_mw", 2.5, "counter")).toBe("2.5");
});

it("puts first what people look at first, by its former name, too", () => {
  expect(isMain("sm_clock_mhz") && isMain("compute_clock_mhz")).toBe(true);
  expect(mainRank("sm_clock_mhz")).toBe(mainRank("compute_clock_mhz"));
  expect(mainRank("power_mw")).toBeLessThan(mainRank("compute_clock_mhz"));
  expect(isMain("video_clock_mhz")).toBe(false);
});

it("reads colours that were made shorter", () => {
  expect(parseColor("#fff")).toEqual(parseColor("#ffffff"));
  expect(parseColor(" #1a2b3c80")).toEqual([0x1a, 0x2b, 0x3c]);
  expect(parseColor("#12f8")).toEqual([0x11, 0x22, 0xff]);
});

it("writes on a colour with what can be read on it", () => {
  const values: Record<string, string> = {
    "--ink": "#161b26",
    "--bg": "#f7f8fa",
    "--k-matmul": "#2f6fde",
  };
  const { textOn, pixel, css } = makePalette((name) => values[name] ?? "#ffffff");
  expect(textOn[INK.panel]).toBe(INK.ink);
  const blue = css.indexOf("#2f6fde");
  const text = parseColor(css[textOn[blue]!]!);
  expect(contrast(text, parseColor("#2f6fde"))).toBeGreaterThan(4);
  expect([...new Uint8Array(pixel.buffer).slice(blue * 4, blue * 4 + 4)]).toEqual([
    0x2f, 0x6f, 0xde, 255,
  ]);
});
