// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { remedyHere } from "./remedy";

const HOW = "`gpufl symbolize SESSION --source-root DIR`";

it("names the folder of a session that lies here", () => {
  expect(remedyHere(HOW, "/logs/a", "folder")).toBe("`gpufl symbolize /logs/a --source-root DIR`");
  expect(remedyHere(HOW, "/my logs/a", "folder")).toContain("'/my logs/a'");
  expect(remedyHere(HOW, "", "folder")).toBe(HOW);
});

it("sends members of a workspace to the machine that has the files", () => {
  const sent = `${HOW}. Run this where the program ran, and \`gpufl upload\` after it`;
  expect(remedyHere(HOW, "", "workspace")).toBe(sent);
  expect(remedyHere(HOW, "/srv/1", "workspace")).toBe(sent);
});

it("tells guests nothing that they cannot do", () => {
  expect(remedyHere(HOW, "", "link")).toBe("");
  expect(remedyHere("compile it with -lineinfo", "", "link")).toBe("compile it with -lineinfo");
});
