// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { shortened } from "./shorten";

const widthOf = (text: string) =>
  [...text].reduce((sum, letter) => sum + (letter === "m" ? 3 : 1), 0);

it("never gives a text that is wider than its room", () => {
  const text = "mmmmiiiiiiiiiiii";
  for (let width = 0; width < 30; ++width) {
    expect(widthOf(shortened(text, width, widthOf, 1))).toBeLessThanOrEqual(width);
  }
  expect(shortened(text, 24, widthOf, 1)).toBe(text);
  expect(shortened(text, 9, widthOf, 1)).toBe("mm…");
  expect(shortened("ab cdef", 5, widthOf, 1)).toBe("ab c…");
  expect(shortened(text, 4, widthOf, 1)).toBe("");
});
