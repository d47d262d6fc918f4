// SPDX-License-Identifier: Apache-2.0
// Ranks of a run side by side, and in words how unevenly they work.
import type { RunRank, RunReport } from "../../api/types";
import { duration, isUnknown, percent, type Unknown } from "../../base/format";
import { wordsOf } from "../overview/insight_words";

export interface RankRow {
  // Of its session.
  id: string;
  rank: number | null;
  host: string;
  duration_ns: number;
  busy_ns: number | null;
  busy_share: number | null;
  wait_ns: number | null;
  communication_ns: number | null;
  iteration_ns: number | null;
  // The first of its own, and how many there are.
  finding: string | null;
  findings: number;
}

const known = (value: number | Unknown): number | null =>
  typeof value === "number" ? value : null;

function recordedOf({ gpu_time }: Pick<RunRank, "gpu_time">): number {
  return gpu_time.devices.reduce((sum, { busy_ns, recorded_ns }) => {
    const isBusy = (known(busy_ns) ?? 0) > 0;
    return sum + (isBusy ? (known(recorded_ns) ?? 0) : 0);
  }, 0);
}

export function rankRows({ ranks }: Pick<RunReport, "ranks">): RankRow[] {
  return ranks.map((one) => {
    const recorded = recordedOf(one);
    const busy_ns = known(one.busy_ns);
    const [first] = one.insights ?? [];
    return {
      id: one.session.id,
      rank: one.rank,
      host: one.session.host,
      duration_ns: one.session.duration_ns,
      busy_ns,
      busy_share: busy_ns !== null && recorded > 0 ? busy_ns / recorded : null,
      wait_ns: known(one.wait_ns),
      communication_ns: known(one.communication_ns),
      iteration_ns: known(one.iteration_ns),
      finding: first ? wordsOf(first).title : null,
      findings: one.insights?.length ?? 0,
    };
  });
}

// Less is within what repeats of the same work differ by.
const WORTH_NAMING = 0.001;
const FIGURES = [
  ["busy", "GPU busy"],
  ["compute", "Kernels that compute"],
  ["iteration", "Step"],
] as const;

export interface Uneven {
  what: string;
  text: string;
}

export function unevenOf({ imbalance, ranks }: Pick<RunReport, "imbalance" | "ranks">): Uneven[] {
  return FIGURES.flatMap(([key, what]) => {
    const figure = imbalance[key];
    if (isUnknown(figure) || figure.share < WORTH_NAMING) return [];
    const slowest = ranks[figure.slowest];
    const who = slowest?.rank === null ? slowest.session.id : `rank ${slowest?.rank}`;
    const more = `${duration(figure.max - figure.mean)} more than the mean`;
    const text = `${who} has the most: ${duration(figure.max)}, ${more} (${percent(figure.share)} of it)`;
    return [{ what, text }];
  });
}
