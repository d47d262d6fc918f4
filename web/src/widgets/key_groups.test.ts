// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { groupKeys, keyParts } from "./key_groups";

function key(keys: string, what: string) {
  return { keys, what, run: () => undefined };
}

it("groups keys by where they work", () => {
  const groups = groupKeys([
    key("?", "Show the keys"),
    key("g k", "Go to Kernels"),
    key("w", "Zoom in"),
    key("Mod+k", "Find anything"),
  ]);
  expect(groups).toEqual([
    { title: "On this page", keys: [{ keys: "w", what: "Zoom in" }] },
    { title: "Go to", keys: [{ keys: "g k", what: "Kernels" }] },
    {
      title: "Everywhere",
      keys: [
        { keys: "?", what: "Show the keys" },
        { keys: "Mod+k", what: "Find anything" },
      ],
    },
  ]);
});

it("shows a key once, as what it does now", () => {
  const groups = groupKeys([key("f", "Fit"), key("f", "Zoom to the selection")]);
  expect(groups).toEqual([
    { title: "On this page", keys: [{ keys: "f", what: "Zoom to the selection" }] },
  ]);
});

it("writes keys as they are labelled", () => {
  expect(keyParts("g k")).toEqual(["g", "k"]);
  expect(keyParts("ArrowLeft")).toEqual(["←"]);
  expect(keyParts(" ")).toEqual(["Space"]);
  expect(keyParts("Shift+ArrowRight")).toEqual(["Shift", "→"]);
  expect(keyParts("Mod+k")[0]).toMatch(/K$/);
});
