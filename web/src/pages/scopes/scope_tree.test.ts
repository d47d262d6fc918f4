// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Scope } from "../../api/types";
import { valueOf, visibleRows } from "./scope_tree";

function scope(path: string, parent: number | null, total: number, more = {}): Scope {
  const name = path.split(" > ").at(-1) as string;
  const unknown = { unknown: "not recorded" };
  return {
    path,
    name,
    parent,
    duration_ns: { count: 1, total },
    own: unknown,
    total: unknown,
    energy_joules: unknown,
    ...more,
  } as unknown as Scope;
}
const SCOPES = [
  scope("load", null, 10),
  scope("step", null, 100),
  scope("step > forward", 1, 30),
  scope("step > backward", 1, 60),
];
const NONE = new Set<string>();
const paths = (rows: { scope: Scope }[]) => rows.map(({ scope: { path } }) => path);

describe("the rows of the tree", () => {
  it("sort brothers and keep children below their parent", () => {
    expect(paths(visibleRows(SCOPES, NONE, "wall", ""))).toEqual([
      "step",
      "step > backward",
      "step > forward",
      "load",
    ]);
    expect(paths(visibleRows(SCOPES, NONE, "name", ""))[0]).toBe("load");
  });
  it("leave out what is folded away", () => {
    const rows = visibleRows(SCOPES, new Set(["step"]), "wall", "");
    expect(paths(rows)).toEqual(["step", "load"]);
    expect(rows[0]).toMatchObject({ hasChildren: true, isOpen: false });
  });
  it("show the way to what is looked for, folded or not", () => {
    expect(paths(visibleRows(SCOPES, new Set(["step"]), "wall", "FOR"))).toEqual([
      "step",
      "step > forward",
    ]);
  });
  it("have no zero for what is not known", () => {
    expect(valueOf(SCOPES[0]!, "gpu")).toBeNull();
    expect(valueOf(SCOPES[0]!, "energy")).toBeNull();
    expect(valueOf(scope("x", null, 1, { total: { gpu_ns: 7 } }), "gpu")).toBe(7);
  });
});
