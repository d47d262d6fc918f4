// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { toCsv } from "./save";

it("writes what spreadsheets read as it was", () => {
  expect(
    toCsv([
      ["a", 1, null],
      ['say "x"', 2.5, "b,c"],
    ]),
  ).toBe('a,1,\n"say ""x""",2.5,"b,c"\n');
});

it("lets no name become a formula", () => {
  expect(toCsv([["=1+1", -2]])).toBe("'=1+1,-2\n");
});
