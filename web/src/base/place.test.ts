// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { placeOf, workspaceOf } from "./place";

it("tells whose pages these are, behind any prefix", () => {
  expect(placeOf("/")).toBe("folder");
  expect(placeOf("/gpu/lab/")).toBe("folder");
  expect(placeOf("/w/lab/")).toBe("workspace");
  expect(placeOf("/gpu/w/lab/")).toBe("workspace");
  expect(placeOf("/shared/0123456789abcdef/")).toBe("link");
  expect(placeOf("/gpu/shared/0123456789abcdef/")).toBe("link");
  expect(placeOf("/w/shared/")).toBe("workspace");
});

it("knows which workspace a page is of", () => {
  expect(workspaceOf("/w/lab/")).toBe("lab");
  expect(workspaceOf("/gpu/w/our%20lab/")).toBe("our lab");
  expect(workspaceOf("/")).toBe("");
  expect(workspaceOf("/shared/0123456789abcdef/")).toBe("");
});
