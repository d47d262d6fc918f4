// SPDX-License-Identifier: Apache-2.0
// Where launches of a kernel come from: what the log tells, and why it does not tell the rest.
import type { KernelCallers, KernelGroup } from "../../api/types";
import { count, duration, isUnknown, plural, sentence } from "../../base/format";

// What people can act on first.
export const CALLER_KINDS = [
  { kind: "line", title: "Line", member: "by_line" },
  { kind: "stack", title: "Stack", member: "by_stack" },
  { kind: "operator", title: "Operator", member: "by_op" },
  { kind: "module", title: "Module", member: "by_module" },
  { kind: "scope", title: "Scope", member: "by_scope" },
  { kind: "call", title: "API call", member: "by_api_call" },
] as const;
export type CallerKind = (typeof CALLER_KINDS)[number]["kind"];

export interface CallerRow {
  id: string;
  label: string;
  // To copy and to hover: with the whole path.
  fullName: string;
  isRest: boolean;
  launches: number;
  total: number;
  share: number;
  // Innermost first; null: rows are not stacks.
  frames: string[] | null;
  moreFrames: number;
}

export interface CallerView {
  kind: CallerKind;
  title: string;
  rows: CallerRow[];
  // What the answer leaves out, in words; empty: nothing.
  more: string;
  // Why there is nothing to see; null: there is.
  reason: string | null;
}

function toRow(group: KernelGroup & { frames?: string[]; more_frames?: number }, i: number) {
  return {
    id: `${i}`,
    label: group.label,
    fullName: group.full_name ?? group.label,
    isRest: group.is_rest ?? false,
    launches: group.duration_ns.count,
    total: group.duration_ns.total,
    share: group.share,
    frames: group.frames ?? null,
    moreFrames: group.more_frames ?? 0,
  };
}

const NONE_TOLD: Record<CallerKind, string> = {
  line: "No launch of this kernel has a line.",
  stack: "No launch of this kernel has a call stack.",
  operator: "No operator was open when this kernel was launched.",
  module: "No module was open when this kernel was launched.",
  scope:
    'This kernel is launched outside of all scopes: wrap parts of the program in `with gpufl.Scope("name"):`.',
  call: "No call stack shows which call launched it.",
};

export function callerViews(callers: KernelCallers): CallerView[] {
  return CALLER_KINDS.map(({ kind, title, member }) => {
    const told = callers[member];
    if (isUnknown(told)) {
      const reason = [told.unknown, told.hint ?? ""].map(sentence).join(" ").trim();
      return { kind, title, rows: [], more: "", reason };
    }
    const rows: CallerRow[] = told.groups.map(toRow);
    const { groups, launches, total_ns } = told.more;
    const more =
      groups === 0
        ? ""
        : `${count(groups)} more with ${plural(launches, "launch", "launches")}, ${duration(total_ns)}`;
    const reason = rows.every(({ isRest }) => isRest) ? NONE_TOLD[kind] : null;
    return { kind, title, rows, more, reason };
  });
}

// The one that was asked for, where it tells something; else the first that does.
export function chosenView(views: CallerView[], wanted: string | null): CallerView | null {
  const telling = views.filter(({ reason }) => reason === null);
  return telling.find(({ kind }) => kind === wanted) ?? telling[0] ?? null;
}
