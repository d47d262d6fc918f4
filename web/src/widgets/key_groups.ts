// SPDX-License-Identifier: Apache-2.0
import type { KeyAction } from "../base/keys";

export interface KeyGroup {
  title: string;
  keys: { keys: string; what: string }[];
}

const EVERYWHERE = new Set(["Mod+k", "?"]);

// Keys of pages, keys of what is on the page, keys that always work. Where several things listen to
// one key, the latest is the one that gets it.
export function groupKeys(actions: KeyAction[]): KeyGroup[] {
  const latest = new Map(actions.map((action) => [action.keys, action]));
  const all = [...latest.values()].map(({ keys, what }) => ({ keys, what }));
  const groups: KeyGroup[] = [
    { title: "On this page", keys: all.filter(({ keys }) => groupOf(keys) === "page") },
    { title: "Go to", keys: all.filter(({ keys }) => groupOf(keys) === "go") },
    { title: "Everywhere", keys: all.filter(({ keys }) => groupOf(keys) === "everywhere") },
  ];
  return groups
    .map(({ title, keys }) => ({
      title,
      keys: title === "Go to" ? keys.map(withoutGoTo) : keys,
    }))
    .filter(({ keys }) => keys.length > 0);
}

function groupOf(keys: string): "page" | "go" | "everywhere" {
  if (EVERYWHERE.has(keys)) return "everywhere";
  return keys.startsWith("g ") ? "go" : "page";
}

function withoutGoTo({ keys, what }: { keys: string; what: string }) {
  return { keys, what: what.replace(/^Go to /, "") };
}

const NAMES: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  " ": "Space",
};

const isApple = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

// What is written on the keys to press: "g k" is two after one another, "Mod+k" two at once.
export function keyParts(keys: string): string[] {
  if (keys === " ") return ["Space"];
  return keys
    .replace("Shift+", "Shift ")
    .split(" ")
    .map((part) => part.replace(/^Mod\+(.)$/, (_, key: string) => `Mod+${key.toUpperCase()}`))
    .map((part) => part.replace("Mod+", isApple ? "⌘ " : "Ctrl "))
    .map((part) => NAMES[part] ?? part);
}
