// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { findItems, type PaletteItem } from "./palette_items";

function item(group: string, text: string, isQuiet = false): PaletteItem {
  return { id: `${group} ${text}`, group, text, isQuiet, run: () => undefined };
}
const many = Array.from({ length: 30 }, (_, i) => item("Kernels", `gemm_${i}`));

it("shows the first few of each group before anything is typed", () => {
  const pages = Array.from({ length: 10 }, (_, i) => item("Pages", `Page ${i}`));
  const groups = findItems([...pages, ...many, item("On this page", "Zoom in", true)], " ");
  expect(groups.map(({ title, items }) => [title, items.length])).toEqual([
    ["Pages", 10],
    ["Kernels", 4],
  ]);
  expect(groups[1]?.items[0]?.text).toBe("gemm_0");
});

it("finds what is typed, the group with the best match first", () => {
  const groups = findItems(
    [item("Pages", "Mega memory"), ...many, item("Quiet", "gem", true)],
    "gem",
  );
  expect(groups.map(({ title }) => title)).toEqual(["Quiet", "Kernels", "Pages"]);
  expect(groups[1]?.items).toHaveLength(8);
  expect(groups[1]?.items[0]?.at).toEqual([0, 1, 2]);
});

it("finds nothing where nothing fits", () => {
  expect(findItems(many, "xyz")).toEqual([]);
});
