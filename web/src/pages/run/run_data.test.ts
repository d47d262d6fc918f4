// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import type { RunReport } from "../../api/types";
import { rankRows, unevenOf } from "./run_data";

const unknown = { unknown: "the engine Monitor records no GPU work" };
// As `gpufl report h200_rank_imbalance --format json` has it, with what is read here.
const report = {
  imbalance: {
    busy: { mean: 36985436.5, min: 18493591, max: 55477282, slowest: 1, share: 0.3333228 },
    compute: unknown,
    iteration: { mean: 925568.5, min: 925537, max: 925600, slowest: 0, share: 0.000034 },
  },
  ranks: [
    {
      rank: 0,
      busy_ns: 18493591,
      wait_ns: 18325029,
      communication_ns: unknown,
      iteration_ns: 925600,
      session: { id: "a", host: "vm", duration_ns: 310191794 },
      gpu_time: {
        devices: [
          { busy_ns: 18493591, recorded_ns: 310191794 },
          { busy_ns: 0, recorded_ns: 310191794 },
        ],
      },
    },
    {
      rank: 1,
      busy_ns: unknown,
      wait_ns: unknown,
      communication_ns: unknown,
      iteration_ns: unknown,
      session: { id: "b", host: "vm", duration_ns: 346997532 },
      gpu_time: { devices: [] },
      insights: [{ rule: "idle_gaps", title: "", detail: "", evidence: [] }],
    },
  ],
} as unknown as RunReport;

it("says which rank has the most, where that is worth naming", () => {
  expect(unevenOf(report)).toEqual([
    {
      what: "GPU busy",
      text: "rank 1 has the most: 55.48 ms, 18.49 ms more than the mean (33.3% of it)",
    },
  ]);
});

it("has a row for each rank, and never 0 for what is unknown", () => {
  const [first, second] = rankRows(report);
  // GPUs that did nothing are not what it was given.
  expect(first?.busy_share).toBeCloseTo(0.0596, 4);
  expect(first).toMatchObject({ rank: 0, communication_ns: null, finding: null, findings: 0 });
  expect(second).toMatchObject({
    busy_ns: null,
    busy_share: null,
    wait_ns: null,
    finding: "The GPU waits for the host",
    findings: 1,
  });
});
