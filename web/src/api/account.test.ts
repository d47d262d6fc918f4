// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { roleOf } from "./account";
import { apiUrl } from "./client";

it("knows the role in the workspace of the page", () => {
  const me = { user: "ada", workspaces: [{ name: "lab", role: "admin" }] };
  expect(roleOf(me, "lab")).toBe("admin");
  expect(roleOf(me, "other")).toBe("");
});

it("asks the server and not the workspace, behind any prefix", () => {
  const asked = apiUrl("/../../../../api/v1/me");
  expect(new URL(asked, "https://a/w/lab/").href).toBe("https://a/api/v1/me");
  expect(new URL(asked, "https://a/gpu/w/lab/").href).toBe("https://a/gpu/api/v1/me");
});
