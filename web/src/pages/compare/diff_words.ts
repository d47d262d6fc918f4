// SPDX-License-Identifier: Apache-2.0
// What a comparison found, in words. The server has judged; here it is only said.
import type { Diff, DiffEntry } from "../../api/types";
import { count, duration, percent, plain, plural, UNKNOWN } from "../../base/format";
import type { Tone } from "../../widgets/parts";

export type Verdict = DiffEntry["verdict"];
export type Metric = DiffEntry["metric"];
type Iterations = NonNullable<Diff["per_iteration"]>["a"];

const REPEATS_NEEDED = 5;
// From where on times count as different without a proof.
const RUN_TO_RUN = 0.05;

export function isDifference(verdict: Verdict): boolean {
  return verdict !== "same" && verdict !== "too_noisy" && verdict !== "drifts";
}

export const VERDICTS: Record<Verdict, string> = {
  same: "alike",
  slower: "slower",
  faster: "faster",
  more: "more often",
  fewer: "less often",
  changed: "launched differently",
  appeared: "only in B",
  vanished: "only in A",
  too_noisy: "too noisy",
  drifts: "drifts",
};

export function verdictTone(verdict: Verdict): Tone {
  if (verdict === "slower") return "bad";
  if (verdict === "faster") return "good";
  return verdict === "too_noisy" || verdict === "drifts" ? "warn" : "plain";
}

// "+14.6%", "23 times", "new"
export function changeText(change: number | null): string {
  if (change === null) return "new";
  if (change >= 2) return `× ${(change + 1).toLocaleString("en-US", { maximumFractionDigits: 1 })}`;
  return signed(change);
}

function signed(change: number): string {
  const text = percent(Math.abs(change));
  if (change === 0) return "0%";
  if (text.startsWith("<")) return "0.0%";
  return `${change < 0 ? "−" : "+"}${text}`;
}

export function intervalText({ low, high }: DiffEntry): string {
  if (low === null || high === null) return "";
  return low === high ? "exact" : `${signed(low)} to ${signed(high)}`;
}

export function valueText(metric: Metric, value: number): string {
  if (metric !== "count") return duration(value);
  const whole = Math.round(value);
  return Math.abs(value - whole) < 1e-6
    ? count(whole)
    : value.toLocaleString("en-US", { maximumFractionDigits: 1 });
}

const FIGURES: Record<Metric, string> = {
  median: "median",
  mean: "mean",
  p90: "p90",
  p99: "p99",
  total: "total time",
  count: "number",
  busy: "GPU busy",
  time: "time",
};

export function figureText({ subject, metric }: DiffEntry, isPerIteration: boolean): string {
  if (subject !== "total") return FIGURES[metric];
  switch (metric) {
    case "time":
      return isPerIteration ? "Time of an iteration" : "Session time";
    case "busy":
      return "GPU busy time";
    case "total":
      return "Kernel time";
    case "count":
      return "Kernels";
    default:
      return `Iteration ${metric}`;
  }
}

// "takes 14.6% longer", "takes 2.4 times as long", "takes 5% less time", "is busy 5% less".
function longer(verb: string, change: number): string {
  if (change >= 1) {
    const times = (change + 1).toLocaleString("en-US", { maximumFractionDigits: 1 });
    return `${verb} ${times} times as long`;
  }
  const less = verb.startsWith("take") ? "less time" : "less";
  return `${verb} ${percent(Math.abs(change))} ${change > 0 ? "longer" : less}`;
}

function totalSentence(entry: DiffEntry, isPerIteration: boolean): string {
  const change = entry.change ?? 0;
  const values = `${valueText(entry.metric, entry.a)} → ${valueText(entry.metric, entry.b)}`;
  switch (entry.metric) {
    case "busy":
      return `In B the GPU ${longer("is busy", change)}: ${values}`;
    case "total":
      return `In B kernels ${longer("take", change)}: ${values}`;
    case "count":
      return `B runs ${change > 0 ? "more" : "fewer"} kernels: ${values}`;
    default: {
      const what = isPerIteration ? "an iteration of B" : "B";
      return `${what.charAt(0).toUpperCase()}${what.slice(1)} ${longer("takes", change)}: ${values}`;
    }
  }
}

const ORDER: Metric[] = ["time", "mean", "median", "busy", "total", "p90", "p99", "count"];

function byOrder(a: DiffEntry, b: DiffEntry): number {
  return ORDER.indexOf(a.metric) - ORDER.indexOf(b.metric);
}

export interface Headline {
  text: string;
  tone: Tone;
}

export function headline(diff: Diff): Headline {
  const { totals, findings, alike } = diff;
  if (totals.length + findings.length + alike.length === 0) {
    return { text: "There is nothing to compare", tone: "warn" };
  }
  const isPerIteration = diff.per_iteration !== undefined;
  const [main] = totals.filter(({ verdict }) => isDifference(verdict)).sort(byOrder);
  if (main) {
    const text = totalSentence(main, isPerIteration);
    // One run of each side is no ground for red or green.
    return { text, tone: diff.proof === "none" ? "plain" : verdictTone(main.verdict) };
  }
  const [unsure] = totals
    .filter(({ verdict }) => verdict === "too_noisy" || verdict === "drifts")
    .sort(byOrder);
  if (unsure) {
    const why = unsure.verdict === "drifts" ? "drifts" : "is too noisy to tell";
    const what = figureText(unsure, isPerIteration);
    return { text: `${what} ${why}: ${intervalText(unsure)}`, tone: "warn" };
  }
  const rows = findings.filter(({ verdict }) => verdict !== "changed");
  if (rows.length > 0) {
    return { text: `No difference in total, but ${differences(rows)}`, tone: "warn" };
  }
  if (findings.length > 0) {
    return {
      text: `No difference in time; ${plural(findings.length, "kernel")} launched differently`,
      tone: "plain",
    };
  }
  // What is not proven is not good yet.
  return diff.proof === "none"
    ? { text: "No difference seen", tone: "plain" }
    : { text: "No difference", tone: "good" };
}

// "2 slower, 1 only in B"
export function differences(entries: DiffEntry[]): string {
  const counts = new Map<Verdict, number>();
  for (const { verdict } of entries) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return [...counts].map(([verdict, n]) => `${count(n)} ${VERDICTS[verdict]}`).join(", ");
}

// Limits are round numbers: "5%".
function limitText(share: number): string {
  return `${plain(100 * share)}%`;
}

// How sure it is, and what would make it surer.
export function confidence(diff: Diff): Headline {
  const { a, b, proof, min_change, compared } = diff;
  const least = limitText(Math.max(RUN_TO_RUN, min_change));
  if (proof === "none") {
    return {
      tone: "warn",
      text:
        `Not proven: ${plural(a.repeats, "run")} of A and ${plural(b.repeats, "run")} of B. ` +
        `Add repeats until each side has ${REPEATS_NEEDED}, and differences stand out from noise. ` +
        `Until then, times count as different from ${least} on; runs of one program may differ as much.`,
    };
  }
  const what =
    proof === "parts"
      ? "Proven by parts of one session: whether it was steady, not how runs differ."
      : `Proven by ${plural(a.repeats, "run")} of A and ${plural(b.repeats, "run")} of B.`;
  return {
    tone: "good",
    text:
      `${what} Intervals hold for all ${plural(compared, "figure")} together. ` +
      `Differences below ${limitText(min_change)} are not shown.`,
  };
}

// Sides have paths for names there; the page calls them A and B.
export function warningText(warning: string, { a, b }: Pick<Diff, "a" | "b">): string {
  const names: [string, string][] = [
    [a.label, "A"],
    [b.label, "B"],
  ];
  // The longer first: one may begin with the other.
  names.sort(([x], [y]) => y.length - x.length);
  return names.reduce((text, [label, name]) => text.replaceAll(label, name), warning);
}

function oneOrMany(values: Set<string>, what: string): string {
  if (values.size > 1) return `${values.size} ${what}s`;
  return [...values][0] || `no ${what}`;
}

// "grid 8x1x1, block 256x1x1 → grid 16x1x1, block 256x1x1"; empty: it is launched as before.
export function launchChange({ launches_a, launches_b }: DiffEntry): string {
  if (!launches_a || !launches_b || launches_a.length === 0) return "";
  const parts: string[] = [];
  for (const [member, what] of [
    ["scope", "scope"],
    ["config", "configuration"],
  ] as const) {
    const a = new Set(launches_a.map((launch) => launch[member]));
    const b = new Set(launches_b.map((launch) => launch[member]));
    if (a.size === b.size && [...a].every((value) => b.has(value))) continue;
    const [before, after] = [oneOrMany(a, what), oneOrMany(b, what)];
    parts.push(before === after ? `${before} → ${b.size} others` : `${before} → ${after}`);
  }
  return parts.join("; ");
}

// Where kernels are compared without their scopes: why; empty: with them.
export function scopesText({ scopes_apart: apart }: Pick<Diff, "scopes_apart">): string {
  if (!apart) return "";
  // Short ones are in no list, so an empty list may be of a side that has some.
  const { has_scopes_a, has_scopes_b } = apart;
  const [a, b] = [inBrackets(apart.a), inBrackets(apart.b)];
  const why =
    has_scopes_a && has_scopes_b
      ? `Scopes of A${a} and of B${b} have no name in common`
      : `Only ${has_scopes_a ? `A has scopes${a}` : `B has scopes${b}`}`;
  return `${why}: kernels are compared whatever their scopes.`;
}

// " (a, b, c and 9 more)"; empty: of none.
function inBrackets(names: string[]): string {
  if (names.length === 0) return "";
  const shown = names.slice(0, 3).join(", ");
  const more = names.length > 3 ? ` and ${count(names.length - 3)} more` : "";
  return ` (${shown}${more})`;
}

// Ids in an address: "ID,ID".
export function idsOf(text: string | null): string[] {
  return [...new Set((text ?? "").split(",").filter(Boolean))];
}

export function iterationsText({ found, fewest, most }: Iterations): string {
  const number =
    fewest === most ? plural(most, "iteration") : `${count(fewest)} to ${count(most)} iterations`;
  return `${number}, found by ${found || UNKNOWN}`;
}
