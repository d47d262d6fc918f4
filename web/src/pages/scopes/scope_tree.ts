// SPDX-License-Identifier: Apache-2.0
// The tree of scopes as rows of a table: brothers are sorted, children stay below their parent.
import type { Scope, ScopeWork, Unknown } from "../../api/types";

export interface ScopeRow {
  scope: Scope;
  index: number;
  hasChildren: boolean;
  isOpen: boolean;
}

export type ScopeKey = "name" | "count" | "wall" | "gpu" | "own" | "kernels" | "waits" | "energy";

function figure(value: number | Unknown): number | null {
  return typeof value === "number" ? value : null;
}

export function workOf(work: ScopeWork | Unknown): ScopeWork | null {
  return "unknown" in work ? null : work;
}

export function valueOf(scope: Scope, key: ScopeKey): string | number | null {
  switch (key) {
    case "name":
      return scope.name;
    case "count":
      return scope.duration_ns.count;
    case "wall":
      return scope.duration_ns.total;
    case "gpu":
      return workOf(scope.total)?.gpu_ns ?? null;
    case "own":
      return workOf(scope.own)?.gpu_ns ?? null;
    case "kernels":
      return workOf(scope.total)?.kernels ?? null;
    case "waits":
      return workOf(scope.total)?.wait_ns ?? null;
    case "energy":
      return figure(scope.energy_joules);
  }
}

function compare(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return b - a;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

export function childrenOf(scopes: Scope[]): Map<number | null, number[]> {
  const children = new Map<number | null, number[]>();
  scopes.forEach(({ parent }, index) => {
    const brothers = children.get(parent);
    if (brothers) brothers.push(index);
    else children.set(parent, [index]);
  });
  return children;
}

// Rows in view. With a search, what matches and the way to it.
export function visibleRows(
  scopes: Scope[],
  closed: ReadonlySet<string>,
  sortedBy: ScopeKey,
  search: string,
): ScopeRow[] {
  const children = childrenOf(scopes);
  const wanted = search.trim().toLowerCase();
  const isKept = new Set<number>();
  if (wanted !== "") {
    scopes.forEach(({ path }, index) => {
      const text = wanted.includes(" > ") ? path : (path.split(" > ").at(-1) ?? path);
      if (!text.toLowerCase().includes(wanted)) return;
      for (let at: number | null = index; at !== null; at = scopes[at]?.parent ?? null)
        isKept.add(at);
    });
  }
  const rows: ScopeRow[] = [];
  const add = (parent: number | null) => {
    const indexes = (children.get(parent) ?? []).filter((i) => wanted === "" || isKept.has(i));
    indexes.sort((a, b) =>
      compare(valueOf(scopes[a] as Scope, sortedBy), valueOf(scopes[b] as Scope, sortedBy)),
    );
    for (const index of indexes) {
      const scope = scopes[index] as Scope;
      const hasChildren = children.has(index);
      const isOpen = wanted !== "" || !closed.has(scope.path);
      rows.push({ scope, index, hasChildren, isOpen });
      if (hasChildren && isOpen) add(index);
    }
  };
  add(null);
  return rows;
}
