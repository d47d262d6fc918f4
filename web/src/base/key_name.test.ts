// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { keyName } from "./key_name";

it("calls keys the same with Caps Lock and without", () => {
  expect(keyName({ key: "w", shiftKey: false })).toBe("w");
  expect(keyName({ key: "W", shiftKey: false })).toBe("w");
  expect(keyName({ key: "N", shiftKey: true })).toBe("N");
  // Caps Lock and Shift together.
  expect(keyName({ key: "n", shiftKey: true })).toBe("N");
  expect(keyName({ key: "?", shiftKey: true })).toBe("?");
  expect(keyName({ key: "ArrowRight", shiftKey: true })).toBe("Shift+ArrowRight");
  expect(keyName({ key: "Escape", shiftKey: false })).toBe("Escape");
});
