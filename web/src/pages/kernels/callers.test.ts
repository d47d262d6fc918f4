// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { CallerGroups, KernelCallers, KernelGroup } from "../../api/types";
import { callerViews, chosenView } from "./callers";

const group = (label: string, total: number, more: Partial<KernelGroup> = {}): KernelGroup => ({
  label,
  share: total / 100,
  duration_ns: { count: 2, total },
  ...more,
});
const none = { groups: 0, launches: 0, total_ns: 0 };
const list = (...groups: KernelGroup[]): CallerGroups => ({ groups, more: none });
const unknown = { unknown: "call stacks were not recorded", hint: "record with --stacks" };
const callers: KernelCallers = {
  by_line: list(
    group("train.py:30 in step()", 70, { full_name: "/me/train.py:30" }),
    group("(no stack)", 30, { is_rest: true }),
  ),
  by_stack: {
    groups: [{ ...group("train.py:30 in step()", 100), frames: ["a", "b"], more_frames: 1 }],
    more: none,
  },
  by_op: {
    groups: [group("aten::mm", 60)],
    more: { groups: 1200, launches: 1, total_ns: 40 },
  },
  by_module: list(group("(no module)", 100, { is_rest: true })),
  by_scope: list(),
  by_api_call: unknown,
};
const viewOf = (kind: string) => callerViews(callers).find((view) => view.kind === kind)!;

describe("callers of a kernel", () => {
  it("has a row for each, with what the log does not tell among them", () => {
    const { rows, reason, more } = viewOf("line");
    expect(
      rows.map(({ label, launches, total, isRest }) => [label, launches, total, isRest]),
    ).toEqual([
      ["train.py:30 in step()", 2, 70, false],
      ["(no stack)", 2, 30, true],
    ]);
    expect(rows[0]).toMatchObject({ fullName: "/me/train.py:30", share: 0.7, frames: null });
    expect([reason, more]).toEqual([null, ""]);
    expect(viewOf("stack").rows[0]).toMatchObject({ frames: ["a", "b"], moreFrames: 1 });
  });
  it("counts what the answer leaves out", () => {
    expect(viewOf("operator").more).toBe("1,200 more with 1 launch, 40 ns");
  });
  it("says why a kind tells nothing", () => {
    expect(viewOf("call").reason).toBe("Call stacks were not recorded. Record with --stacks.");
    expect(viewOf("module").reason).toContain("No module");
    expect(viewOf("scope").reason).toContain("gpufl.Scope");
  });
  it("shows what was asked for, or the first that tells something", () => {
    const views = callerViews(callers);
    expect(chosenView(views, "operator")?.kind).toBe("operator");
    expect(chosenView(views, "module")?.kind).toBe("line");
    expect(chosenView(views, null)?.kind).toBe("line");
    const silent = callerViews({
      by_line: unknown,
      by_stack: unknown,
      by_op: unknown,
      by_module: unknown,
      by_scope: list(),
      by_api_call: unknown,
    });
    expect(chosenView(silent, "line")).toBeNull();
  });
});
