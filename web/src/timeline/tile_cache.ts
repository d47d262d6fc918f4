// SPDX-License-Identifier: Apache-2.0
// Pictures of stretches of tracks, the latest used of them, within a bound of bytes. Pure.

export interface Entry<Data> {
  key: string;
  from: number;
  to: number;
  // Steps are 2^level ns long.
  level: number;
  version: number;
  // True: every event is listed, so that it is as good for any shorter view.
  isExact: boolean;
  bytes: number;
  data: Data;
}

export interface Segment<Data> {
  entry: Entry<Data>;
  from: number;
  to: number;
}

// More than this many pictures side by side are not worth the looking.
const MOST_SEGMENTS = 6;

export class TileCache<Data> {
  private readonly byKey = new Map<string, Set<Entry<Data>>>();
  // In the order of use: the first was not used for longest.
  private readonly used = new Set<Entry<Data>>();
  private total = 0;

  constructor(private readonly mostBytes: number) {}

  get bytes(): number {
    return this.total;
  }

  get size(): number {
    return this.used.size;
  }

  add(entry: Entry<Data>): void {
    for (const other of [...(this.byKey.get(entry.key) ?? [])]) {
      const isInside = other.from >= entry.from && other.to <= entry.to;
      const isNoBetter = other.level >= entry.level || other.version < entry.version;
      // What is exact stays useful for shorter views, unless the new one is exact as well.
      const isReplaced = entry.isExact || !other.isExact || other.version < entry.version;
      if (isInside && isNoBetter && isReplaced) this.remove(other);
    }
    const entries = this.byKey.get(entry.key) ?? new Set();
    this.byKey.set(entry.key, entries.add(entry));
    this.used.add(entry);
    this.total += entry.bytes;
    for (const oldest of this.used) {
      if (this.total <= this.mostBytes || oldest === entry) break;
      this.remove(oldest);
    }
  }

  clear(): void {
    this.byKey.clear();
    this.used.clear();
    this.total = 0;
  }

  // Whether there is anything to draw of a range.
  shows(key: string, from: number, to: number): boolean {
    for (const entry of this.byKey.get(key) ?? []) {
      if (entry.from <= to && entry.to >= from) return true;
    }
    return false;
  }

  // Whether a view of some level can be drawn as well as a new request would.
  has(key: string, from: number, to: number, level: number, version: number): boolean {
    for (const entry of this.byKey.get(key) ?? []) {
      if (entry.version < version || entry.from > from || entry.to < to) continue;
      if (entry.level === level || (entry.isExact && entry.level > level)) return true;
    }
    return false;
  }

  // What to draw of a range: the best there is for each part of it, from left to right.
  segments(key: string, from: number, to: number, level: number): Segment<Data>[] {
    const entries = this.byKey.get(key);
    if (!entries) return [];
    const rank = (entry: Entry<Data>): number => {
      if (entry.level === level) return 0;
      if (entry.isExact && entry.level > level) return 0;
      return entry.level > level ? entry.level - level : 2 * (level - entry.level);
    };
    const candidates = [...entries].filter((entry) => entry.from < to && entry.to > from);
    candidates.sort((a, b) => b.version - a.version || rank(a) - rank(b));
    const result: Segment<Data>[] = [];
    let gaps: [number, number][] = [[from, to]];
    for (const entry of candidates) {
      if (gaps.length === 0 || result.length >= MOST_SEGMENTS) break;
      const rest: [number, number][] = [];
      let isUsed = false;
      for (const [begin, end] of gaps) {
        const left = Math.max(begin, entry.from);
        const right = Math.min(end, entry.to);
        if (left >= right) {
          rest.push([begin, end]);
          continue;
        }
        isUsed = true;
        result.push({ entry, from: left, to: right });
        if (begin < left) rest.push([begin, left]);
        if (right < end) rest.push([right, end]);
      }
      if (isUsed) this.touch(entry);
      gaps = rest;
    }
    return result.sort((a, b) => a.from - b.from);
  }

  private touch(entry: Entry<Data>): void {
    this.used.delete(entry);
    this.used.add(entry);
  }

  private remove(entry: Entry<Data>): void {
    this.used.delete(entry);
    const entries = this.byKey.get(entry.key);
    entries?.delete(entry);
    if (entries?.size === 0) this.byKey.delete(entry.key);
    this.total -= entry.bytes;
  }
}
