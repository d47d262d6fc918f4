// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { wantedBy } from "./row_link";

const click = { button: 0, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };
const cell = { isOther: false, isLink: false, hasSelection: false, hasHref: true };

it("opens a row as a link would be", () => {
  expect(wantedBy(click, cell)).toBe("here");
  expect(wantedBy(click, { ...cell, isLink: true })).toBe("here");
  expect(wantedBy({ ...click, ctrlKey: true }, cell)).toBe("beside");
  expect(wantedBy({ ...click, button: 1 }, cell)).toBe("beside");
  expect(wantedBy({ ...click, metaKey: true }, { ...cell, isLink: true })).toBe("the browser");
  expect(wantedBy({ ...click, ctrlKey: true }, { ...cell, hasHref: false })).toBe("nothing");
  expect(wantedBy({ ...click, button: 2 }, cell)).toBe("nothing");
});

it("stays where text was selected or another link was meant", () => {
  expect(wantedBy(click, { ...cell, hasSelection: true })).toBe("nothing");
  expect(wantedBy(click, { ...cell, hasSelection: true, isLink: true })).toBe("nothing");
  expect(wantedBy(click, { ...cell, isOther: true })).toBe("nothing");
});
