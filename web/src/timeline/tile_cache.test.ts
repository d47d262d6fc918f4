// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { type Entry, TileCache } from "./tile_cache";

function entry(more: Partial<Entry<string>>): Entry<string> {
  return {
    key: "a",
    from: 0,
    to: 100,
    level: 3,
    version: 1,
    isExact: false,
    bytes: 10,
    data: "",
    ...more,
  };
}

describe("tile cache", () => {
  it("drops what was not used for longest, by bytes", () => {
    const cache = new TileCache<string>(30);
    for (const key of ["a", "b", "c"]) cache.add(entry({ key }));
    cache.segments("a", 0, 100, 3);
    cache.add(entry({ key: "d" }));
    expect(cache.bytes).toBe(30);
    expect(["a", "b", "c", "d"].map((key) => cache.has(key, 0, 100, 3, 1))).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
  it("keeps the newest even where it is too large", () => {
    const cache = new TileCache<string>(30);
    cache.add(entry({ key: "a" }));
    cache.add(entry({ key: "b", bytes: 1000 }));
    expect(cache.size).toBe(1);
    expect(cache.has("b", 0, 100, 3, 1)).toBe(true);
  });
  it("takes an exact picture for any shorter view, others for their level alone", () => {
    const cache = new TileCache<string>(1000);
    cache.add(entry({ key: "exact", isExact: true }));
    cache.add(entry({ key: "steps" }));
    expect(cache.has("exact", 10, 20, 0, 1)).toBe(true);
    expect(cache.has("steps", 10, 20, 0, 1)).toBe(false);
    expect(cache.has("exact", 10, 120, 3, 1)).toBe(false);
    expect(cache.has("exact", 10, 20, 3, 2)).toBe(false);
  });
  it("fills a view from the best pictures and leaves no part out", () => {
    const cache = new TileCache<string>(1000);
    cache.add(entry({ from: 0, to: 1000, level: 8, data: "coarse" }));
    cache.add(entry({ from: 200, to: 400, level: 3, data: "right" }));
    const parts = cache
      .segments("a", 100, 600, 3)
      .map(({ entry, from, to }) => [entry.data, from, to]);
    expect(parts).toEqual([
      ["coarse", 100, 200],
      ["right", 200, 400],
      ["coarse", 400, 600],
    ]);
  });
  it("prefers the newer version and forgets what it replaces", () => {
    const cache = new TileCache<string>(1000);
    cache.add(entry({ data: "old" }));
    cache.add(entry({ data: "new", version: 2 }));
    expect(cache.segments("a", 0, 50, 3).map(({ entry }) => entry.data)).toEqual(["new"]);
    expect(cache.size).toBe(1);
  });
});
