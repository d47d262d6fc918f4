// SPDX-License-Identifier: Apache-2.0
import { afterEach, expect, it, vi } from "vitest";
import { logOut, roleOf } from "./account";
import { apiUrl } from "./client";

afterEach(() => {
  vi.unstubAllGlobals();
});

function answerWith(status: number) {
  const body = status === 204 ? null : JSON.stringify({ title: "why not" });
  vi.stubGlobal("fetch", async () => new Response(body, { status }));
}

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

it("takes a login that has ended already for logged out, and nothing else", async () => {
  for (const status of [204, 401]) {
    answerWith(status);
    await expect(logOut()).resolves.toBeUndefined();
  }
  answerWith(503);
  await expect(logOut()).rejects.toThrow("why not");
});
