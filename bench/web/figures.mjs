// SPDX-License-Identifier: Apache-2.0
// Figures as bench/python/bench_figures.py has them: printed, held to their bars, and written.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

export function shareOf(values, share) {
  const ranked = [...values].sort((a, b) => a - b);
  return ranked[Math.floor(share * (ranked.length - 1))];
}

export function median(values) {
  const ranked = [...values].sort((a, b) => a - b);
  const middle = ranked.length >> 1;
  return ranked.length % 2 ? ranked[middle] : (ranked[middle - 1] + ranked[middle]) / 2;
}

export class Figures {
  entries = [];

  // The middle of `values` with the 95% interval of the median; held by its upper end.
  add(figure, values, unit, atMost) {
    const ranked = [...values].sort((a, b) => a - b);
    const half = Math.floor(0.98 * Math.sqrt(ranked.length)) + 1;
    const middle = ranked.length >> 1;
    const low = ranked[Math.max(middle - half, 0)];
    const high = ranked[Math.min(middle + half, ranked.length - 1)];
    const interval = { low, high, pairs: ranked.length };
    this.#add(figure, median(ranked), unit, interval, high, atMost);
  }

  // What was measured once, such as a share of many frames.
  addOne(figure, value, unit, atMost) {
    this.#add(figure, value, unit, {}, value, atMost);
  }

  #add(figure, value, unit, interval, judged, atMost) {
    const bar = atMost === undefined ? {} : { at_most: atMost, within: judged <= atMost };
    this.entries.push({ figure, value, unit, ...interval, ...bar });
    const spread = interval.pairs
      ? ` (${interval.low.toFixed(2)} to ${interval.high.toFixed(2)})`
      : "";
    const held =
      atMost === undefined ? "" : `, at most ${atMost}${judged <= atMost ? "" : ": MISSED"}`;
    console.log(`${figure}: ${value.toFixed(2)} ${unit}${spread}${held}`);
  }

  // Into the file, where one was asked for; the program's exit code.
  write(benchmark, browser, path) {
    const model = /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"));
    const run = {
      cpu: model?.[1] ?? "unknown",
      cores: cpus().length,
      chromium: browser,
      load: Number(loadavg()[0].toFixed(1)),
      unix_time_s: Math.floor(Date.now() / 1000),
    };
    if (path) {
      const result = { benchmark, run, figures: this.entries };
      writeFileSync(path, `${JSON.stringify(result, null, 1)}\n`);
    }
    return this.entries.every(({ within }) => within ?? true) ? 0 : 1;
  }
}
