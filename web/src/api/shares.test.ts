// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { contentsText, withImplied } from "./shares";

const NOTHING = { source: false, command: false, files: false };

it("says what is in a link", () => {
  expect(contentsText(NOTHING)).toBe("figures only");
  expect(contentsText({ ...NOTHING, source: true, command: true })).toBe(
    "with source text, command line",
  );
});

it("ticks what the files have in them", () => {
  expect(withImplied({ ...NOTHING, source: true })).toEqual({ ...NOTHING, source: true });
  expect(withImplied({ ...NOTHING, files: true })).toEqual({
    source: true,
    command: true,
    files: true,
  });
});
