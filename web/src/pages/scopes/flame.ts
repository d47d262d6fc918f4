// SPDX-License-Identifier: Apache-2.0
// Flame graphs: trees of time from scopes or from recorded stacks, and where each frame is drawn.
import type { Flame, Scope } from "../../api/types";
import { workOf } from "./scope_tree";

export interface FlameNode {
  // The way from the root, so that an address can name a frame.
  id: string;
  name: string;
  file?: string;
  line?: number;
  value: number;
  parent: FlameNode | null;
  children: FlameNode[];
}

const SEPARATOR = "\u001f";

function root(name: string): FlameNode {
  return { id: "", name, value: 0, parent: null, children: [] };
}

function child(parent: FlameNode, key: string, name: string): FlameNode {
  const id = parent.id === "" ? key : `${parent.id}${SEPARATOR}${key}`;
  const node: FlameNode = { id, name, value: 0, parent, children: [] };
  parent.children.push(node);
  return node;
}

export function byScopes(scopes: Scope[], by: "wall" | "gpu"): FlameNode {
  const top = root("all scopes");
  const nodes: FlameNode[] = [];
  scopes.forEach((scope) => {
    const name = scope.path.split(" > ").at(-1) ?? scope.name;
    const parent = scope.parent === null ? top : (nodes[scope.parent] ?? top);
    const node = child(parent, name, name);
    node.value = by === "wall" ? scope.duration_ns.total : (workOf(scope.total)?.gpu_ns ?? 0);
    nodes.push(node);
    if (scope.parent === null) top.value += node.value;
  });
  return top;
}

// Stacks begin with the outermost frame; equal beginnings are one frame.
export function bySamples(file: Pick<Flame, "shared" | "profiles">, index: number): FlameNode {
  const profile = file.profiles[index];
  const top = root("all");
  if (profile?.samples === undefined) return top;
  const known = new Map<string, FlameNode>();
  profile.samples.forEach((stack, sample) => {
    const weight = profile.weights?.[sample] ?? 0;
    top.value += weight;
    let at = top;
    for (const number of stack) {
      const frame = file.shared.frames[number];
      const key = String(number);
      const id = at.id === "" ? key : `${at.id}${SEPARATOR}${key}`;
      let node = known.get(id);
      if (!node) {
        node = child(at, key, frame?.name ?? "?");
        if (frame?.file !== undefined) node.file = frame.file;
        if (frame?.line !== undefined) node.line = frame.line;
        known.set(id, node);
      }
      node.value += weight;
      at = node;
    }
  });
  return top;
}

// What the export calls work whose stack nobody recorded.
const NO_STACK = "(no stack recorded)";

// Whether any sample of a profile has one.
export function tellsStacks({ shared }: Pick<Flame, "shared">, samples: number[][]): boolean {
  const none = shared.frames.findIndex(({ name }) => name === NO_STACK);
  return none < 0 || samples.some((sample) => !sample.includes(none));
}

export function selfOf({ value, children }: FlameNode): number {
  return Math.max(0, value - children.reduce((sum, one) => sum + one.value, 0));
}

export function findNode(top: FlameNode, id: string): FlameNode | null {
  if (top.id === id) return top;
  for (const one of top.children) {
    if (id !== one.id && !id.startsWith(one.id + SEPARATOR)) continue;
    return findNode(one, id);
  }
  return null;
}

export function wayTo(node: FlameNode): FlameNode[] {
  const way: FlameNode[] = [];
  for (let at = node.parent; at; at = at.parent) way.unshift(at);
  return way;
}

export interface Placed {
  node: FlameNode;
  depth: number;
  // Of the width, 0 to 1.
  left: number;
  width: number;
  // How many frames of the node it stands for, which are too narrow one by one.
  others?: number;
}

// Frames narrower than `least` of the width are drawn as one, without what is below them. The frames
// on the way to what is zoomed into are drawn over the whole width.
export function layout(zoom: FlameNode, least: number): Placed[] {
  const placed: Placed[] = wayTo(zoom).map((node, depth) => ({ node, depth, left: 0, width: 1 }));
  const place = (node: FlameNode, depth: number, left: number, width: number) => {
    placed.push({ node, depth, left, width });
    const sum = node.children.reduce((all, one) => all + one.value, 0);
    // Scopes of threads that work at the same time add up to more than the scope around them.
    const whole = Math.max(node.value, sum);
    if (whole <= 0) return;
    let at = left;
    const sorted = [...node.children].sort((a, b) => b.value - a.value);
    for (const [i, one] of sorted.entries()) {
      const part = (width * one.value) / whole;
      if (part < least) {
        const rest = (width * sum) / whole - (at - left);
        const others = sorted.slice(i).filter(({ value }) => value > 0).length;
        if (rest >= least) placed.push({ node, depth: depth + 1, left: at, width: rest, others });
        return;
      }
      place(one, depth + 1, at, part);
      at += part;
    }
  };
  place(zoom, placed.length, 0, 1);
  return placed;
}

// Frames whose name has the text, and their time; one inside another counts once.
export function searchFor(top: FlameNode, text: string): { ids: Set<string>; value: number } {
  const wanted = text.trim().toLowerCase();
  const ids = new Set<string>();
  let value = 0;
  if (wanted === "") return { ids, value };
  const look = (node: FlameNode, isInside: boolean) => {
    const isHit =
      node.name.toLowerCase().includes(wanted) || (node.file ?? "").toLowerCase().includes(wanted);
    if (isHit) ids.add(node.id);
    if (isHit && !isInside) value += node.value;
    for (const one of node.children) look(one, isInside || isHit);
  };
  for (const one of top.children) look(one, false);
  return { ids, value };
}
