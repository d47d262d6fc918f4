// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { hardwareValue } from "./metrics";

it("shows of hardware counters in bytes as sizes only what are sizes", () => {
  expect(hardwareValue("dram__bytes.sum", 1536)).toBe("1.5 KiB");
  expect(hardwareValue("dram__bytes_read.avg", 3 * 2 ** 20)).toBe("3 MiB");
  expect(hardwareValue("dram__bytes.avg", 0.4)).toBe("0.4");
  expect(hardwareValue("dram__bytes.sum.per_second", 2.5e9)).toBe("2.5 GB/s");
  expect(hardwareValue("dram__bytes.sum.per_cycle_elapsed", 0.4)).toBe("0.4");
  expect(hardwareValue("dram__bytes.sum.per_cycle_elapsed", 2345.6)).toBe("2,346");
  expect(hardwareValue("dram__bytes.sum.pct_of_peak_sustained_elapsed", 41.25)).toBe("41.3%");
  expect(hardwareValue("smsp__sass_average_data_bytes_per_sector_mem_global.ratio", 31.5)).toBe(
    "31.5",
  );
});
