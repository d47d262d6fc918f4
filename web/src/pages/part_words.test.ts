// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { partWords } from "./part_words";

const titles = (...of: Parameters<typeof partWords>) => partWords(...of).map(({ title }) => title);

it("says nothing where figures are of the whole session", () => {
  expect(partWords({ window: null }, true)).toEqual([]);
  expect(partWords(undefined, true)).toEqual([]);
});

it("says which part was analysed, and that more was recorded", () => {
  const window = { start_ns: 12_100_000_000, end_ns: 14_000_000_000 };
  expect(titles({ window }, true)).toEqual(["Only 12.1 s to 14 s is analysed."]);
  expect(titles({ window: null }, false)).toEqual(["More has been recorded since."]);
  expect(titles({ window }, false)).toHaveLength(2);
});
