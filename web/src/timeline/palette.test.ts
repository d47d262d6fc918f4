// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { CLASS_COLORS } from "../base/kernel_class";
import tokens from "../styles/tokens.css?raw";
import { contrast, parseColor } from "./palette";

const [light, dark] = tokens.split("@media screen");

function colorOf(scheme: string, name: string) {
  const found = new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(scheme);
  if (!found) throw new Error(`there is no --${name}`);
  return parseColor(found[1]!);
}

describe.each([
  ["light", light!],
  ["dark", dark!],
])("colours of the timeline, %s", (_, scheme) => {
  it("give every class of kernels a hue", () => {
    for (const name of CLASS_COLORS) {
      const color = colorOf(scheme, `k-${name}`);
      expect(Math.max(...color) - Math.min(...color), name).toBeGreaterThan(60);
    }
  });
  it("leave work of the GPU brighter than what waits for it", () => {
    const against = (name: string) => contrast(colorOf(scheme, name), colorOf(scheme, "panel"));
    for (const quiet of ["wait", "scope"]) {
      for (const name of CLASS_COLORS) {
        expect(against(`k-${name}`), `${name} beside ${quiet}`).toBeGreaterThan(against(quiet));
      }
    }
  });
});
