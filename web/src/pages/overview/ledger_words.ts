// SPDX-License-Identifier: Apache-2.0
// Whether the trace is complete, and if not, what is missing and why.
import type { Ledger } from "../../api/types";
import { count } from "../../base/format";
import type { Tone } from "../../widgets/parts";
import { numberIn } from "../log/ledger";

export function verdictTone({ verdict }: Ledger): Tone {
  if (verdict.startsWith("complete")) return "good";
  return verdict.startsWith("incomplete") ? "bad" : "warn";
}

export interface LossCount {
  what: string;
  number: number;
}

// Everything that the ledger counts and that should be zero, in words.
const LOSSES: Record<string, string> = {
  launches_missing: "launches without a record: the vendor's library gave none",
  launches_unfinished: "launches still running at the end",
  kernels_unclaimed: "records without a launch",
  graph_kernels_missing: "kernels of graphs without a record",
  vendor_dropped: "records that the vendor's library dropped: its buffers were full",
  impossible_times: "records with impossible times",
  notes_dropped: "notes of launches dropped",
  tracings_refused: "attempts to trace that the driver refused",
  markers_dropped: "markers dropped",
  markers_unclosed: "markers never closed",
  markers_unmatched: "ends of markers without a start",
  stacks_dropped: "call stacks dropped",
  warp_records_dropped: "records of warps dropped",
  modules_over_cap: "code images without room",
  modules_not_found: "code images not found",
  scopes_dropped: "scopes dropped",
  scopes_unclosed: "scopes never closed",
  scopes_forgotten: "scopes forgotten",
  names_overflowed: "names beyond the bound",
  counters_overflowed: "counters beyond the bound",
  samples_missed: "readings missed: the sampler came too late",
  samplers_stuck: "samplers stuck",
  rounds_lost: "rounds of readings lost",
  events_dropped: "events dropped",
  dictionary_overflows: "names that found no room in the log",
  rows_deleted: "rows deleted to stay within the size limit",
};

// "1 reading missed", "2 readings missed".
export function lossWords(what: string, number: number): string {
  if (number !== 1) return what;
  return what.replace(/^((?:call|code|written) )?(\w+?)s\b/, (_, of = "", many: string) => {
    const one = /(?:ch|sh|x)e$/.test(many) ? many.slice(0, -1) : many;
    return `${of}${one}`;
  });
}

export function lossesOf({ numbers, rows_read }: Ledger): LossCount[] {
  if (numbers === null) return [];
  const losses = Object.entries(LOSSES).flatMap(([name, what]): LossCount[] => {
    const number = numberIn(numbers, name) ?? 0;
    return number > 0 ? [{ what: lossWords(what, number), number }] : [];
  });
  for (const [kind, number] of Object.entries(numbers.dropped ?? {})) {
    if (number > 0)
      losses.push({
        what: lossWords(`rows of ${kind.replaceAll("_", " ")} that the writer dropped`, number),
        number,
      });
  }
  let unread = 0;
  for (const [kind, written] of Object.entries(numbers.rows ?? {})) {
    unread += Math.max(written - (rows_read[kind] ?? 0), 0);
  }
  if (unread > 0) {
    losses.push({ what: lossWords("written rows that cannot be read", unread), number: unread });
  }
  return losses;
}

// "5,265 of 5,265 kernels recorded"; null: launches were not counted.
export function countedText({ numbers }: Ledger): string | null {
  const seen = numberIn(numbers, "launches_seen");
  const records = numberIn(numbers, "kernel_records");
  if (seen === null || records === null || (seen === 0 && records === 0)) return null;
  return `${count(records)} of ${count(seen)} launches recorded`;
}
