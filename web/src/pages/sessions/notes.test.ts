// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { Problem } from "../../api/client";
import { LONGEST_TAG, MOST_TAGS, problemText, tagsOf } from "./notes";

it("reads tags from a text", () => {
  expect(tagsOf(" slow, baseline ,,slow")).toEqual(["slow", "baseline"]);
  expect(tagsOf("")).toEqual([]);
});

it("keeps within what the server takes", () => {
  expect(tagsOf("x".repeat(100))[0]).toHaveLength(LONGEST_TAG);
  expect(tagsOf(Array.from({ length: 50 }, (_, i) => `t${i}`).join(","))).toHaveLength(MOST_TAGS);
});

it("says what to do when notes were changed by another", () => {
  expect(problemText(new Problem(412, "Precondition Failed", ""))).toContain("still here");
  expect(problemText(new Problem(500, "Broken", "no disk"))).toBe("no disk");
});
