// SPDX-License-Identifier: Apache-2.0
// What a session does not have, why, and what would record it.
import type { Capability, Waits } from "../../api/types";
import { isUnknown, sentence, type Unknown } from "../../base/format";
import { toolName } from "../imported";

export interface NotRecorded {
  what: string;
  why: string;
  how: string;
}

const FEATURES: Record<string, string> = {
  profiling_engine: "Engine",
  launch_count: "Count of launches",
  session_clock: "Times since the start",
  recording: "Recording by gpufl",
  gpu_work: "GPU work",
  health: "Source of readings",
  stacks: "Call stacks",
  symbols: "Names of functions",
};

export function featureName(feature: string): string {
  const words = feature.replaceAll("_", " ");
  return FEATURES[feature] ?? words[0]!.toUpperCase() + words.slice(1);
}

function ofCapability({ feature, asked, got, reason, detail, hint }: Capability): NotRecorded {
  const why = detail || reason.replaceAll("_", " ");
  // Nobody asked another tool's trace for anything.
  if (feature === "recording" && reason === "imported") {
    return { what: featureName(feature), why: sentence(`imported from ${toolName(got)}`), how: "" };
  }
  const isSwitch = ["on", "off", ""].includes(asked) && ["on", "off", ""].includes(got);
  const change = isSwitch ? "" : `${asked} was asked for, ${got} was used. `;
  return { what: featureName(feature), why: change + sentence(why), how: sentence(hint) };
}

// Where launches have lines and waits do not: frameworks name the former. Null: that is not so.
export function missingWaitLines(waits: Waits | Unknown, hasLines: boolean): Unknown | null {
  if (!hasLines || isUnknown(waits)) return null;
  if (waits.by_call.length === 0 || waits.by_line.length > 0) return null;
  return {
    unknown: "the lines of launches are known from the framework, but not those of waits",
    hint: "record with `gpufl trace --stacks`",
  };
}

// Figures by what they are called; those with the same reason are one entry.
export function notRecorded(
  capabilities: Capability[],
  figures: [string, unknown][],
): NotRecorded[] {
  const entries = capabilities.filter(({ as_asked }) => !as_asked).map(ofCapability);
  const byReason = new Map<string, NotRecorded>();
  const known = new Set(entries.map(({ what }) => what));
  for (const [what, figure] of figures) {
    if (!isUnknown(figure) || known.has(what)) continue;
    const why = sentence(figure.unknown);
    const same = byReason.get(why);
    if (same) {
      same.what += `, ${what.toLowerCase()}`;
      continue;
    }
    byReason.set(why, { what, why, how: sentence(figure.hint ?? "") });
  }
  return [...entries, ...byReason.values()];
}
