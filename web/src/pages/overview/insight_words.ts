// SPDX-License-Identifier: Apache-2.0
// Insights in words, and where their evidence can be seen.
import type { Evidence, Insight, Report } from "../../api/types";
import { count, duration, isUnknown, percent, shownName, withMicro } from "../../base/format";
import type { Tone } from "../../widgets/parts";
import { baseName } from "../kernels/code_model";

const TITLES: Record<string, string> = {
  allocation_in_loop: "Memory is allocated in a loop",
  bank_conflicts: "Threads wait for the same bank of shared memory",
  clock_drop: "The GPU's clock dropped",
  ecc_errors: "The GPU's memory reported errors",
  exposed_communication: "GPUs wait for communication",
  failed_calls: "Calls failed",
  gpu_imbalance: "Some GPUs work more than others",
  idle_gaps: "The GPU waits for the host",
  in_loop_sync: "The host waits for the GPU in a loop",
  launch_bound: "The GPU waits for launches",
  low_occupancy: "Too few warps fit on a multiprocessor",
  memory_nearly_full: "GPU memory is nearly full",
  pageable_copies: "Copies use pageable memory",
  partial_wave: "Much of the GPU has nothing to do",
  power_cap: "The power limit slows the GPU down",
  rank_imbalance: "Some ranks work more than others",
  register_spill: "Registers spill to memory",
  small_copies: "Many small copies",
  sync_attribution: "The host waits for the GPU here",
  tail_effect: "The last wave of blocks is nearly empty",
  thread_divergence: "Threads of a warp take different branches",
  throttling: "The GPU is throttled",
  tiny_kernels: "Tiny kernels run one by one",
  trace_losses: "The recording is not complete",
  uncoalesced_access: "Memory accesses are scattered",
  unoverlapped_copies: "Copies do not overlap with kernels",
  warp_bubbles: "Warps wait for each other inside a kernel",
  warp_group_bound: "One group of warps limits a kernel",
  xid_errors: "The driver reported an error",
};

// With the line that waits, which is what to look for.
const WAITS_AT: Record<string, string> = {
  in_loop_sync: "The host waits for the GPU in a loop at",
  sync_attribution: "The host waits for the GPU at",
};

export interface InsightWords {
  title: string;
  evidence: string;
  // The rest, one click below.
  more: string | null;
}

// Reports in text round what is less than a twentieth of a percent to none, and do not group digits.
function plainShare(text: string): string {
  return text
    .replace(/\(0\.0% of/g, "(<0.1% of")
    .replace(/× (\d{4,})\b/g, (_, number: string) => `× ${count(Number(number))}`);
}

// The analysis' own title has the figures: it is the evidence of the title in words.
export function wordsOf(insight: Insight): InsightWords {
  const { rule } = insight;
  const title = plainShare(withMicro(insight.title));
  const detail = withMicro(insight.detail);
  const at = placeOf(insight);
  const words = at?.isWait ? `${WAITS_AT[rule]} ${at.text}` : TITLES[rule];
  if (words === undefined) return { title, evidence: detail, more: null };
  return { title: words, evidence: title, more: detail === "" ? null : detail };
}

// Of a GPU as a whole: the kernel that their evidence names is an example.
const OF_GPU = new Set(["idle_gaps", "launch_bound", "tiny_kernels"]);

// What a finding is about, where it is about one line or kernel.
function subjectOf(insight: Insight): string | undefined {
  const hasLine = insight.evidence.some(({ file }) => file !== undefined);
  return OF_GPU.has(insight.rule) && !hasLine ? undefined : placeOf(insight)?.title;
}

export interface InsightGroup {
  first: Insight;
  others: Insight[];
}

// What is said in the same words, of the same line and with the same advice, is said once: a finding of
// twenty GPUs is one. The first, which the analysis ranks highest, stands for them.
export function groupInsights(insights: Insight[]): InsightGroup[] {
  const groups = new Map<string, InsightGroup>();
  for (const insight of insights) {
    const key = JSON.stringify([
      insight.rule,
      wordsOf(insight).title,
      subjectOf(insight),
      insight.advice,
    ]);
    const group = groups.get(key);
    if (group) group.others.push(insight);
    else groups.set(key, { first: insight, others: [] });
  }
  return [...groups.values()];
}

const LEAST_SHARE = 0.001;

export interface Gain {
  text: string;
  // "126 ms, medium confidence"
  more: string;
}

export function gainOf({ gain_ns, gain_share, gain_of, confidence }: Insight): Gain | null {
  if (gain_ns === null) return null;
  // Of a share that rounds to nothing, the time says more.
  if (gain_share < LEAST_SHARE) {
    return { text: `−${duration(gain_ns)}`, more: `${confidence} confidence` };
  }
  const whole = gain_of === "session" ? "" : ` of ${gain_of}`;
  return {
    text: `−${percent(gain_share)}`,
    more: `${duration(gain_ns)}${whole}, ${confidence} confidence`,
  };
}

export const SEVERITY: Record<Insight["severity"], { tone: Tone; word: string }> = {
  HIGH: { tone: "bad", word: "serious" },
  MEDIUM: { tone: "warn", word: "notable" },
  LOW: { tone: "plain", word: "minor" },
};

const WAITS = new Set(["in_loop_sync", "sync_attribution", "idle_gaps"]);

export interface Place {
  text: string;
  title: string;
  // A path of the session's pages; null: none has it.
  path: string | null;
  // It waits, and the path leads to it among the lines that do.
  isWait: boolean;
}

// Whether the session has a page of a kernel: what was recorded of warps alone has none.
export type KnowsKernel = (name: string) => boolean;

export function kernelsKnownTo(kernels: Report["kernels"] | undefined): KnowsKernel {
  const list = kernels === undefined || isUnknown(kernels) ? [] : kernels.by_name;
  const names = new Set(list.flatMap(({ label, full_name }) => [label, full_name ?? label]));
  return (name) => names.has(name);
}

// The line of code to look at, or the kernel: the first that the evidence has.
export function placeOf(
  { rule, evidence }: Pick<Insight, "rule" | "evidence">,
  knows: KnowsKernel = () => true,
): Place | null {
  const at = evidence.find(({ file }) => file !== undefined);
  if (at?.file !== undefined) {
    const text = at.line === undefined ? baseName(at.file) : `${baseName(at.file)}:${at.line}`;
    const title = at.line === undefined ? at.file : `${at.file}:${at.line}`;
    const path = WAITS.has(rule)
      ? `sync?line=${encodeURIComponent(title)}`
      : `kernels?by=line&q=${encodeURIComponent(text)}`;
    return { text, title, path, isWait: rule in WAITS_AT };
  }
  const kernel = evidence.find((entry) => entry.kernel !== undefined)?.kernel;
  if (kernel === undefined) return null;
  return {
    text: shownName(kernel),
    title: kernel,
    path: knows(kernel) ? `kernels/${encodeURIComponent(kernel)}` : null,
    isWait: false,
  };
}

// The stretch, selected, with a little around it, so that what led to it is in view; of a moment a
// cursor.
export function timelinePath({ start_ns, end_ns }: Evidence): string | null {
  if (start_ns === undefined) return null;
  const end = Math.max(end_ns ?? start_ns, start_ns);
  const around = Math.max(Math.round((end - start_ns) * 0.1), 1000);
  const view = `timeline?from=${start_ns - around}&to=${end + around}`;
  if (end === start_ns) return `${view}&at=${start_ns}`;
  return `${view}&sel=${start_ns},${end}&span=${start_ns},${end}`;
}

export interface Step {
  words: string;
  path: string;
}

// Where evidence is seen that has no time of its own.
const PAGE_OF: Record<string, Step> = {
  ecc_errors: { words: "See the GPU's health", path: "health" },
  gpu_imbalance: { words: "See all GPUs on the timeline", path: "timeline" },
  memory_nearly_full: { words: "See memory over time", path: "memory" },
  warp_bubbles: { words: "See the warps on the timeline", path: "timeline" },
  warp_group_bound: { words: "See the warps on the timeline", path: "timeline" },
  trace_losses: { words: "See what is missing", path: "log" },
};

// One click to the evidence; null: there is nothing more to see.
export function evidenceStep({ rule, evidence }: Insight): Step | null {
  const path = evidence.map(timelinePath).find((one) => one !== null);
  return path ? { words: "See it on the timeline", path } : (PAGE_OF[rule] ?? null);
}
