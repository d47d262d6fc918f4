// SPDX-License-Identifier: Apache-2.0
// How well a text fits what was typed: all of its letters, in order, better the closer together they
// are and the more of them begin a word.

export interface Match {
  score: number;
  // Where in the text the letters were found, ascending.
  at: number[];
}

const RUN = 8;
const WORD = 10;
const PLAIN = 1;
const GAP = 0.4;
const MAX_GAP = 12;

function isWordStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text.charAt(at - 1);
  const letter = text.charAt(at);
  if (/[^A-Za-z0-9]/.test(before)) return /[A-Za-z0-9]/.test(letter);
  return /[a-z]/.test(before) && /[A-Z]/.test(letter);
}

// One word of what was typed. A table over (letter of the word, place in the text), because the first
// place that fits is often not the best one: "mm" in "elementwise_mm".
function matchWord(word: string, text: string, lower: string): Match | null {
  const length = text.length;
  let best: number[] = [];
  const cameFrom: Int32Array[] = [];
  for (let i = 0; i < word.length; ++i) {
    const row = new Array<number>(length).fill(-Infinity);
    const from = new Int32Array(length).fill(-1);
    // The best place of the letter before, less what the way from there costs.
    let reach = -Infinity;
    let reachAt = -1;
    for (let j = i; j < length; ++j) {
      const before = j > 0 ? (best[j - 1] ?? -Infinity) : -Infinity;
      if (i > 0 && j > 1) {
        reach -= j - reachAt <= MAX_GAP ? GAP : 0;
        const candidate = best[j - 2] ?? -Infinity;
        if (candidate - GAP > reach) {
          reach = candidate - GAP;
          reachAt = j - 2;
        }
      }
      if (lower.charAt(j) !== word.charAt(i)) continue;
      const own = isWordStart(text, j) ? WORD : PLAIN;
      if (i === 0) {
        row[j] = own - Math.min(j, MAX_GAP) * 0.1;
      } else if (before + RUN >= reach && before > -Infinity) {
        row[j] = before + own + RUN;
        from[j] = j - 1;
      } else if (reach > -Infinity) {
        row[j] = reach + own;
        from[j] = reachAt;
      }
    }
    best = row;
    cameFrom.push(from);
  }
  let end = -1;
  for (let j = 0; j < length; ++j) {
    if ((best[j] ?? -Infinity) > (end < 0 ? -Infinity : (best[end] ?? -Infinity))) end = j;
  }
  if (end < 0) return null;
  const score = best[end] ?? 0;
  const at: number[] = [];
  for (let i = word.length - 1; i >= 0; --i) {
    at.unshift(end);
    end = cameFrom[i]?.[end] ?? -1;
  }
  return { score, at };
}

// Words of what was typed are found in any order. Of texts that fit as well, the shorter is better.
export function fuzzyMatch(typed: string, text: string): Match | null {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = text.toLowerCase();
  let score = 0;
  const at = new Set<number>();
  for (const word of words) {
    const match = matchWord(word, text, lower);
    if (!match) return null;
    score += match.score;
    for (const place of match.at) at.add(place);
  }
  return { score: score - Math.min(text.length, 200) * 0.02, at: [...at].sort((a, b) => a - b) };
}

// The text in stretches, for showing which letters were found.
export function stretches(text: string, at: number[]): { text: string; isFound: boolean }[] {
  const out: { text: string; isFound: boolean }[] = [];
  const found = new Set(at);
  for (let i = 0; i < text.length; ++i) {
    const isFound = found.has(i);
    const last = out.at(-1);
    if (last && last.isFound === isFound) last.text += text.charAt(i);
    else out.push({ text: text.charAt(i), isFound });
  }
  return out;
}
