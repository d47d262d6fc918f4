// SPDX-License-Identifier: Apache-2.0
// Reasons of stalls: fixed colours, as kernel classes have, and names as people say them.
import type { StallCounts } from "../../api/types";

// What waits for the same part of the chip has the same colour.
const COLOR_OF: Record<string, string> = {
  long_scoreboard: "matmul",
  lg_throttle: "gather",
  tex_throttle: "gather",
  short_scoreboard: "norm",
  mio_throttle: "norm",
  barrier: "reduction",
  membar: "reduction",
  warpgroup_arrive: "reduction",
  wait: "copy",
  dispatch_stall: "copy",
  math_pipe_throttle: "comm",
  gmma: "comm",
  branch_resolving: "softmax",
  no_instructions: "softmax",
  imc_miss: "softmax",
  selected: "elementwise",
};

export function stallColor(reason: string): string {
  return `var(--k-${COLOR_OF[reason] ?? "other"})`;
}

export function stallWords(reason: string): string {
  if (reason === "selected") return "issued";
  return reason
    .replaceAll("_", " ")
    .replace(/^mio\b/, "MIO")
    .replace(/^imc\b/, "constant cache");
}

// Issuing, and being ready while another warp issues, is not waiting.
export function isWaiting(reason: string): boolean {
  return reason !== "selected" && reason !== "not_selected";
}

export interface StallPart {
  reason: string;
  samples: number;
}

// Most samples first: of the kernel as a whole, for a stack that has the same order on every row.
export function stallOrder(stalls: StallCounts): StallPart[] {
  return Object.entries(stalls)
    .map(([reason, { samples }]) => ({ reason, samples }))
    .filter(({ samples }) => samples > 0)
    .sort((a, b) => b.samples - a.samples || a.reason.localeCompare(b.reason));
}

export function stackOf(stalls: StallCounts, order: string[]): StallPart[] {
  const parts = order.flatMap((reason) => {
    const samples = stalls[reason]?.samples ?? 0;
    return samples > 0 ? [{ reason, samples }] : [];
  });
  return parts;
}

// The legend: one entry for each colour, named after its most frequent reason.
export function legendOf(order: StallPart[], most = 5): StallPart[] {
  const seen = new Map<string, StallPart>();
  for (const part of order)
    if (!seen.has(stallColor(part.reason))) seen.set(stallColor(part.reason), part);
  return [...seen.values()].slice(0, most);
}
