// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { pathOf, sectionPath, sessionPath } from "./paths";

it("puts ids into routes, whatever they are made of", () => {
  expect(pathOf("/sessions")).toBe("/sessions");
  expect(sessionPath("a/b", "")).toBe("/sessions/a%2Fb");
  expect(sessionPath("s", "/events/{}", "f<{}>($&)/")).toBe(
    "/sessions/s/events/f%3C%7B%7D%3E(%24%26)%2F",
  );
  expect(sectionPath("s", "gpu_time")).toBe("/sessions/s/sections/gpu_time");
});
