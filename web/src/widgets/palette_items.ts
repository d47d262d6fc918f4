// SPDX-License-Identifier: Apache-2.0
import { fuzzyMatch } from "./fuzzy";

export interface PaletteItem {
  id: string;
  group: string;
  text: string;
  // Beside the text; not searched.
  detail?: string;
  keys?: string;
  // Shown only when something was typed.
  isQuiet?: boolean;
  run: () => void;
}

export interface FoundItem extends PaletteItem {
  at: number[];
}
export interface FoundGroup {
  title: string;
  items: FoundItem[];
}

const MOST = 8;
const MOST_UNASKED = 4;

// What fits, in groups; the group with the best match first. With nothing typed, the first few of
// each in the order given.
export function findItems(items: PaletteItem[], typed: string): FoundGroup[] {
  const isAsked = typed.trim() !== "";
  const groups = new Map<string, { best: number; found: { item: FoundItem; score: number }[] }>();
  for (const item of items) {
    if (!isAsked && item.isQuiet) continue;
    const match = isAsked ? fuzzyMatch(typed, item.text) : { score: 0, at: [] };
    if (!match) continue;
    const group = groups.get(item.group) ?? { best: -Infinity, found: [] };
    groups.set(item.group, group);
    group.found.push({ item: { ...item, at: match.at }, score: match.score });
    group.best = Math.max(group.best, match.score);
  }
  return [...groups]
    .sort(([, a], [, b]) => b.best - a.best)
    .map(([title, { found }]) => ({
      title,
      items: found
        .sort((a, b) => b.score - a.score)
        .slice(0, mostOf(title, isAsked))
        .map(({ item }) => item),
    }));
}

// All pages of a session fit; of what can be long, the best.
function mostOf(group: string, isAsked: boolean): number {
  if (group === "Pages") return Infinity;
  return isAsked ? MOST : MOST_UNASKED;
}
